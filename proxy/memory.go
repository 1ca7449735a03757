package proxy

import "sync"

// chargeStep is what a session may hold without being charged for it, and the
// step in which it is: nearly all sessions never touch the common sum.
const chargeStep = 16 << 10

// account is what a session holds of the memory that all sessions share: what
// it has sent and is not carried out, and what it has not read. Safe for
// concurrent use.
type account struct {
	mu     sync.Mutex
	bytes  int64
	closed bool
}

// charge sets one part of the account, which belongs to the caller, to about
// bytes.
func (s *session) charge(part *int, bytes int) {
	bytes -= bytes % chargeStep
	change := int64(bytes - *part)
	if change == 0 {
		return
	}
	*part = bytes
	s.account.mu.Lock()
	if !s.account.closed {
		s.account.bytes += change
		s.srv.memoryHeld.Add(change)
	}
	s.account.mu.Unlock()
	// In a goroutine of its own, because the caller may hold what kill needs.
	if change > 0 && s.srv.memoryHeld.Load() > s.srv.memory() && s.srv.evicting.CompareAndSwap(false, true) {
		s.srv.wg.Go(s.srv.evict)
	}
}

// chargeInput charges what the reading goroutine holds.
func (s *session) chargeInput() {
	bytes := s.frames.Memory() + s.subs.Size() + s.watchedBytes
	if s.multi != nil {
		bytes += s.multi.bytes
	}
	s.charge(&s.charged, bytes)
}

// settle closes the account.
func (s *session) settle() {
	s.account.mu.Lock()
	defer s.account.mu.Unlock()
	if !s.account.closed {
		s.account.closed = true
		s.srv.memoryHeld.Add(-s.account.bytes)
	}
}

func (s *session) holds() int64 {
	s.account.mu.Lock()
	defer s.account.mu.Unlock()
	if s.account.closed {
		return 0
	}
	return s.account.bytes
}

func (s *Server) memory() int64 { return int64(s.cfg().MaxMemory) }

// evict closes the sessions that hold most, until all hold less than
// max_memory. So who does not read its replies loses, and nobody else.
func (s *Server) evict() {
	defer s.evicting.Store(false)
	for s.memoryHeld.Load() > s.memory() {
		var worst *session
		most := int64(0)
		for _, ses := range s.clients() {
			if n := ses.holds(); n > most {
				worst, most = ses, n
			}
		}
		if worst == nil {
			return
		}
		s.stats.Evicted.Add(1)
		if n, due := s.dropping.due(); due {
			s.log.Warn("sessions hold too much memory, closing the largest", "max_memory", s.memory(), "bytes", most,
				"address", worst.remote(), "unreported", n)
		}
		worst.kill()
	}
}

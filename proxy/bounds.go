package proxy

import (
	"sync"
	"time"
)

// evict closes the sessions that hold most, until all hold less than
// max_memory. So who does not read its replies loses, and nobody else.
func (s *Server) evict() {
	defer s.memory.Evicted()
	for s.memory.Over() {
		var worst *session
		most := int64(0)
		for _, ses := range s.clients() {
			if n := ses.account.Bytes(); n > most {
				worst, most = ses, n
			}
		}
		if worst == nil {
			return
		}
		s.stats.Evicted.Add(1)
		if n, due := s.dropping.due(); due {
			s.log.Warn("sessions hold too much memory, closing the largest", "max_memory", s.memory.Most(), "bytes", most,
				"address", worst.remote(), "unreported", n)
		}
		worst.Kill()
	}
}

// drop closes a session that has to make room for another.
func (s *Server) drop(ses *session) {
	if ses == nil {
		return
	}
	s.stats.Dropped.Add(1)
	if n, due := s.dropping.due(); due {
		s.log.Warn("too many connections have not logged in, closing the oldest", "max_pending", s.cfg().MaxPending,
			"unreported", n)
	}
	ses.Kill()
}

// seldom keeps a warning that anybody can cause to one a second. Safe for
// concurrent use.
type seldom struct {
	mu      sync.Mutex
	last    time.Time
	skipped int
}

// due reports whether to tell now, and how often it was not told before.
func (w *seldom) due() (skipped int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.last) < time.Second {
		w.skipped++
		return 0, false
	}
	skipped = w.skipped
	w.last, w.skipped = time.Now(), 0
	return skipped, true
}

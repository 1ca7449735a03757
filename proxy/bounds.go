package proxy

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/redlockd/redlockd/proxy/users"
)

// pending are the sessions that have not logged in, or not completed their TLS handshake,
// so that it is unknown whether they are honest. Where there are too many, the address
// with most of them loses its oldest one, so that half-open connections keep out no
// clients of other addresses. Guarded by the roster's mutex.
type pending struct {
	byOrigin map[netip.Prefix]*list.List
	n        int
}

// enterLocked adds a session unless it needs neither login nor TLS handshake, and returns
// the one that must be closed for it, or nil.
func (p *pending) enterLocked(s *session, conn net.Conn, most int) (oldest *session) {
	if _, tls := conn.(secured); s.user != nil && !tls {
		return nil
	}
	from := users.Origin(s.remote())
	if p.byOrigin == nil {
		p.byOrigin = make(map[netip.Prefix]*list.List)
	}
	if p.byOrigin[from] == nil {
		p.byOrigin[from] = list.New()
	}
	s.pendingElement = p.byOrigin[from].PushBack(s)
	p.n++
	if p.n <= most {
		return nil
	}
	worst := p.byOrigin[from]
	for _, l := range p.byOrigin {
		if l.Len() > worst.Len() {
			worst = l
		}
	}
	oldest = worst.Front().Value.(*session)
	p.leaveLocked(oldest)
	return oldest
}

// leaveLocked removes a session if it is pending.
func (p *pending) leaveLocked(s *session) {
	if s.pendingElement == nil {
		return
	}
	from := users.Origin(s.remote())
	p.byOrigin[from].Remove(s.pendingElement)
	s.pendingElement = nil
	p.n--
	if p.byOrigin[from].Len() == 0 {
		delete(p.byOrigin, from)
	}
}

// evict closes the session that holds most, until all together hold no more than
// max_memory. So the clients that do not read their replies lose their connections.
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
		if n, ok := s.closeWarnings.allow(); ok {
			s.log.Warn("sessions hold too much memory, closing the largest", "max_memory", s.memory.Most(), "bytes", most,
				"address", worst.remote(), "unreported", n)
		}
		worst.Kill()
	}
}

// drop closes a pending session that has to make room for another; nil is none.
func (s *Server) drop(ses *session) {
	if ses == nil {
		return
	}
	s.stats.Dropped.Add(1)
	if n, ok := s.closeWarnings.allow(); ok {
		s.log.Warn("too many connections have not logged in, closing the oldest", "max_pending", s.cfg().MaxPending,
			"unreported", n)
	}
	ses.Kill()
}

// warningLimiter limits a warning that any client can cause to one a second. Safe for
// concurrent use.
type warningLimiter struct {
	mu      sync.Mutex
	last    time.Time
	skipped int
}

// allow reports whether to log now, and how many warnings were skipped since the last
// one.
func (w *warningLimiter) allow() (skipped int, ok bool) {
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

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
	by map[netip.Prefix]*list.List
	n  int
}

// enterLocked adds a session unless it needs neither login nor TLS handshake, and returns
// the one that must be closed for it, or nil.
func (p *pending) enterLocked(s *session, conn net.Conn, most int) (oldest *session) {
	if _, tls := conn.(secured); s.user != nil && !tls {
		return nil
	}
	from := users.Origin(s.remote())
	if p.by == nil {
		p.by = make(map[netip.Prefix]*list.List)
	}
	if p.by[from] == nil {
		p.by[from] = list.New()
	}
	s.unsettled = p.by[from].PushBack(s)
	p.n++
	if p.n <= most {
		return nil
	}
	worst := p.by[from]
	for _, l := range p.by {
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
	if s.unsettled == nil {
		return
	}
	from := users.Origin(s.remote())
	p.by[from].Remove(s.unsettled)
	s.unsettled = nil
	p.n--
	if p.by[from].Len() == 0 {
		delete(p.by, from)
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
		if n, due := s.dropping.due(); due {
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
	if n, due := s.dropping.due(); due {
		s.log.Warn("too many connections have not logged in, closing the oldest", "max_pending", s.cfg().MaxPending,
			"unreported", n)
	}
	ses.Kill()
}

// seldom limits a warning that any client can cause to one a second. Safe for concurrent
// use.
type seldom struct {
	mu      sync.Mutex
	last    time.Time
	skipped int
}

// due reports whether to log now, and how many warnings were skipped since the last one.
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

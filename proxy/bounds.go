package proxy

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/redlockd/redlockd/proxy/users"
)

// pending are the sessions that have not logged in, or not ended their TLS
// handshake: nobody knows yet whether they are honest. Of too many the oldest
// goes of the address that has most, so that half-open connections keep nobody
// out, least of all those of another address. Guarded by the roster's mutex.
type pending struct {
	by map[netip.Prefix]*list.List
	n  int
}

// enterLocked adds a session that has to prove itself, and returns the one that must
// go for it, or nil.
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

// leaveLocked takes a session out; it may not be there.
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

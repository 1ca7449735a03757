package proxy

import (
	"container/list"
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/redlockd/redlockd/proxy/users"
)

// secured is a connection that begins with a TLS handshake.
type secured interface {
	HandshakeContext(context.Context) error
}

// pending are the sessions that have not logged in, or not ended their TLS
// handshake: nobody knows yet whether they are honest. Of too many the oldest
// goes of the address that has most, so that half-open connections keep nobody
// out, least of all those of another address. Guarded by the roster's mutex.
type pending struct {
	by map[netip.Prefix]*list.List
	n  int
}

// enter adds a session that has to prove itself, and returns the one that must
// go for it, or nil. Needs the roster's mutex.
func (p *pending) enter(s *session, conn net.Conn, most int) (oldest *session) {
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
	p.leave(oldest)
	return oldest
}

// leave needs the roster's mutex.
func (p *pending) leave(s *session) {
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

// handshake does the TLS handshake, if there is one, in a bounded time.
func handshake(conn net.Conn, within time.Duration) error {
	c, ok := conn.(secured)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return c.HandshakeContext(ctx)
}

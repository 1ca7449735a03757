package proxy

import (
	"container/list"
	"context"
	"net"
	"sync"
	"time"
)

// secured is a connection that begins with a TLS handshake.
type secured interface {
	HandshakeContext(context.Context) error
}

// pending are the sessions that have not logged in, or not ended their TLS
// handshake: nobody knows yet whether they are honest. Of too many the oldest
// goes, so that half-open connections keep nobody out: who is honest logs in
// at once. Guarded by the server's mutex.
type pending struct{ list.List }

// enter adds a session that has to prove itself, and returns the one that must
// go for it, or nil. Needs the server's mutex.
func (p *pending) enter(s *session, conn net.Conn, most int) (oldest *session) {
	if _, tls := conn.(secured); s.user != nil && !tls {
		return nil
	}
	s.unsettled = p.PushBack(s)
	if p.Len() <= most {
		return nil
	}
	oldest = p.Front().Value.(*session)
	p.leave(oldest)
	return oldest
}

// leave needs the server's mutex.
func (p *pending) leave(s *session) {
	if s.unsettled != nil {
		p.Remove(s.unsettled)
		s.unsettled = nil
	}
}

// settled takes a session off the pending ones.
func (s *Server) settled(ses *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending.leave(ses)
}

// drop closes a session that has to make room for another.
func (s *Server) drop(ses *session) {
	if ses == nil {
		return
	}
	s.stats.dropped.Add(1)
	if n, due := s.dropping.due(); due {
		s.log.Warn("too many connections have not logged in, closing the oldest", "max_pending", s.cfg().MaxPending,
			"unreported", n)
	}
	ses.kill()
}

// bufferless keeps what the system holds for a client that does not read
// small: it is no part of max_memory, and grows to megabytes by itself.
func bufferless(conn net.Conn) {
	if c, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = c.NetConn()
	}
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetWriteBuffer(sendBuffer) // as much as the system likes, then
	}
}

// seldom keeps a warning that anybody can cause to one a second. Safe for
// concurrent use.
type seldom struct {
	mu      sync.Mutex
	last    time.Time
	skipped int
}

// due is whether to tell now, and how often it was not told before.
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

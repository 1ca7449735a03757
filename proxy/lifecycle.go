package proxy

import (
	"io"
	"sync"
	"time"
)

// lifecycle is the state with which other goroutines park, wake and end a session. All
// fields but once are guarded by stopMu.
type lifecycle struct {
	once     sync.Once  // of Kill
	stopMu   sync.Mutex // so that Shutdown's read deadline is not replaced by an older one
	stopping bool
	killed   bool
	closed   chan struct{} // nil until connClosed is first called
	lastCall *time.Time    // when reading ends, if stopping
	armed    time.Time     // the read deadline in force
	parked   bool          // no goroutine reads; clearing it obliges to start one
	enrolled bool          // the socket was added to the epoll
	alarm    *time.Timer   // wakes a parked session
}

// connClosed returns a channel that is closed together with the connection. It is made on
// demand, since an idle session needs none.
func (l *lifecycle) connClosed() <-chan struct{} {
	l.stopMu.Lock()
	defer l.stopMu.Unlock()
	if l.closed == nil {
		l.closed = make(chan struct{})
		if l.killed {
			close(l.closed)
		}
	}
	return l.closed
}

// markKilled records that Kill was called, for connClosed.
func (l *lifecycle) markKilled() {
	l.stopMu.Lock()
	defer l.stopMu.Unlock()
	l.killed = true
	if l.closed != nil {
		close(l.closed)
	}
}

// setAlarmLocked has f called once after a time, unless the alarm is stopped. The caller
// must hold stopMu. f is the same in every call.
func (l *lifecycle) setAlarmLocked(after time.Duration, f func()) {
	if l.alarm == nil {
		l.alarm = time.AfterFunc(after, f)
		return
	}
	l.alarm.Reset(after)
}

// stop ends the session once everything that it reads until lastCall is answered (S6).
func (s *session) stop(lastCall *time.Time) {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	s.stopping, s.lastCall = true, lastCall
	s.armLocked(*lastCall) // wakes the read
	s.wakeUpLocked()
}

// Kill closes the connection at once and undoes the grants that were not answered to the
// client. Safe for concurrent use.
func (s *session) Kill() {
	s.once.Do(func() {
		s.pipe.SetGone()
		s.markKilled()
		s.account.Close()
		s.pipe.Abort()
		// In its own goroutine, because closing a TLS connection writes.
		s.srv.wg.Go(func() { _ = s.conn.Close() })
		s.unpark() // so that a goroutine ends it
	})
}

// end gives back everything the session holds.
func (s *session) end() {
	s.Kill()
	s.unwatch()
	s.srv.relay.Leave(s, &s.subs)
	s.srv.roster.leave(s)
	s.srv.wg.Done()
	s.Log().Debug("session closed")
}

// linger gives the client of a stopped session time to read its last replies: closing
// with unread input resets the connection, and a reset can discard replies that the
// client has not read yet. What arrives now is not carried out.
func (s *session) linger() {
	s.stopMu.Lock()
	stopping := s.stopping
	s.stopMu.Unlock()
	c, ok := s.conn.(interface{ CloseWrite() error })
	if !ok || !stopping || s.pipe.Gone() || c.CloseWrite() != nil {
		return
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(s.srv.lingering)) // an error shows at Read
	_, _ = io.Copy(io.Discard, s.conn)
}

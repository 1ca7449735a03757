package proxy

import (
	"io"
	"sync"
	"time"
)

// lifecycle is how a session is parked, woken and ended by others than its reading
// goroutine. All but once needs stopMu.
type lifecycle struct {
	once     sync.Once  // kills
	stopMu   sync.Mutex // orders Shutdown's read deadline behind ours
	stopping bool
	killed   bool
	dead     chan struct{} // nil until somebody asks; see died
	lastCall *time.Time    // when nothing more is read, if stopping
	armed    time.Time     // the read deadline that awaitMore has set
	parked   bool          // nobody reads: who sets it back starts who does
	enrolled bool          // the epoll knows the socket
	alarm    *time.Timer   // wakes a parked session
}

// died is closed with the connection. It is made for who asks, since an idle
// session needs none.
func (l *lifecycle) died() <-chan struct{} {
	l.stopMu.Lock()
	defer l.stopMu.Unlock()
	if l.dead == nil {
		l.dead = make(chan struct{})
		if l.killed {
			close(l.dead)
		}
	}
	return l.dead
}

func (l *lifecycle) bury() {
	l.stopMu.Lock()
	defer l.stopMu.Unlock()
	l.killed = true
	if l.dead != nil {
		close(l.dead)
	}
}

// setAlarmLocked calls f after a time, once, unless the alarm is stopped.
func (l *lifecycle) setAlarmLocked(after time.Duration, f func()) {
	if l.alarm == nil {
		l.alarm = time.AfterFunc(after, f)
		return
	}
	l.alarm.Reset(after)
}

// stop ends the session when what it reads until lastCall is answered (S6).
func (s *session) stop(lastCall *time.Time) {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	s.stopping, s.lastCall = true, lastCall
	s.armLocked(*lastCall) // wakes the read
	s.wakeUpLocked()
}

// Kill closes the connection at once and undoes what was not told. Safe for
// concurrent use.
func (s *session) Kill() {
	s.once.Do(func() {
		s.pipe.SetGone()
		s.bury()
		s.account.Close()
		s.pipe.Abort()
		// In its own goroutine, because closing a TLS connection writes.
		s.srv.wg.Go(func() { _ = s.conn.Close() })
		s.unpark() // for its end
	})
}

// end gives back everything the session holds.
func (s *session) end() {
	s.Kill()
	s.unwatch()
	s.srv.hub.Leave(s, &s.subs)
	s.srv.roster.leave(s)
	s.srv.wg.Done()
	s.Log().Debug("session closed")
}

// linger lets the client of a session that is stopped read its last replies:
// a close with something unread resets the connection, and a reset can take
// away what the client had not read yet. What comes now is not carried out.
func (s *session) linger() {
	s.stopMu.Lock()
	stopping := s.stopping
	s.stopMu.Unlock()
	c, ok := s.conn.(interface{ CloseWrite() error })
	if !ok || !stopping || s.pipe.Gone() || c.CloseWrite() != nil {
		return
	}
	_ = s.conn.SetReadDeadline(time.Now().Add(s.srv.lingering)) // a closed connection tells it at Read
	_, _ = io.Copy(io.Discard, s.conn)
}

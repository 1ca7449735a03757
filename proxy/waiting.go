package proxy

import "time"

// awaitMore sets the deadline of the next read, and returns false when the session is to
// stop. A command that has begun to arrive must end before the deadline that was set when
// it began, so that a client cannot hold the session by sending it byte by byte.
func (s *session) awaitMore() bool {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	if s.stopping {
		_ = s.conn.SetReadDeadline(*s.lastCall) // an error shows at Read
		return time.Now().Before(*s.lastCall)
	}
	partial, idle := s.frames.Partial(), s.srv.cfg().IdleTimeout
	deadline, slack := s.endsAt(), idle/16
	switch {
	case s.user == nil:
	case partial && s.timedCommand == s.frames.Commands():
		return true
	case partial && idle > 0:
		deadline = time.Now().Add(idle)
	case partial:
		deadline = time.Time{}
	}
	s.timedCommand = -1
	if partial {
		s.timedCommand = s.frames.Commands()
	} else if at := s.parkAt(); !at.IsZero() && (deadline.IsZero() || at.Before(deadline)) {
		deadline, slack = at, s.srv.parkDelay()/2
	}
	// A deadline that is a little too early does no harm: timedOut and park check the
	// time. So not every command moves a timer.
	early := deadline.Sub(s.armed)
	if s.armed.IsZero() || early < 0 || early > slack || partial {
		s.armLocked(deadline)
	}
	return true
}

// endsAt returns when the session ends if nothing more comes; zero is never.
func (s *session) endsAt() time.Time {
	idle := s.srv.cfg().IdleTimeout
	switch {
	case s.user == nil:
		return s.born.Add(s.srv.cfg().LoginTimeout)
	case idle > 0 && s.subs.Count() == 0:
		return s.lastCommand.Add(idle)
	}
	return time.Time{}
}

// armLocked sets the read deadline. The caller must hold stopMu.
func (s *session) armLocked(deadline time.Time) {
	s.armed = deadline
	_ = s.conn.SetReadDeadline(deadline) // an error shows at Read
}

// timedOut reports whether a read that ran into its deadline ends the session. It does
// not while replies are still to be sent; after Shutdown awaitMore decides instead.
func (s *session) timedOut() bool {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	if s.stopping {
		return false
	}
	s.armed = time.Time{}
	idle := s.srv.cfg().IdleTimeout
	switch {
	case s.user == nil && time.Now().Before(s.endsAt()):
		return false // the deadline was that of parking
	case s.user == nil || s.frames.Partial():
	case s.subs.Count() > 0 || idle == 0 || time.Since(s.lastCommand) < idle:
		return false // the deadline was early, or the rules have changed since
	case !s.pipe.Idle():
		s.lastCommand = time.Now()
		return false
	}
	s.Log().Debug("session timed out", "logged_in", s.user != nil)
	return true
}

// longAgo is a deadline in the past.
var longAgo = time.Unix(1, 0)

package proxy

import (
	"errors"
	"time"

	"github.com/redlockd/redlockd/proxy/epoll"
)

// A session that waits for its next command for a while is parked: its reading goroutine
// ends, and the server's epoll (package epoll) reports when there is something to read.
// Ten thousand idle sessions would otherwise be as many stacks for the garbage collector
// to scan, while the busy sessions wait.
//
// session.parked, guarded by stopMu, says who owns the session:
//
//	false  one goroutine: run's, or the one that wakeUpLocked started
//	true   none. The goroutine that has set it returns at once, and
//	       touches nothing of the session any more.
//
// A goroutine that finds it true and sets it to false starts the next owner, so there is
// exactly one at a time. These do so: the epoll for data and for an end (P5), the alarm
// for idle_timeout and login_timeout, stop (S6), Kill. Waking without a reason does no
// harm: the new owner reads, finds nothing, and parks again. No wake-up is missed: stop
// and Kill set their flags before they look at parked, and park checks the flags after it
// has taken stopMu; the epoll also reports what came before Watch was called.
//
// Everything else works without a reader: the writers write messages and late replies.

// errParked is what a reading goroutine returns that has parked its session.
var errParked = errors.New("parked")

// parkAt returns when the session is parked if nothing comes, zero where it never is.
func (s *session) parkAt() time.Time {
	if !epoll.Available || s.pipe.Socket() == nil {
		return time.Time{}
	}
	at := s.lastCommand.Add(s.srv.parkDelay())
	if at.Before(s.parkNotBefore) {
		return s.parkNotBefore
	}
	return at
}

// parkDelay returns how long a session waits for its next command before it is parked.
func (s *Server) parkDelay() time.Duration {
	if s.readers.Load() > manyReaders {
		return s.parkAfter / parkSooner
	}
	return s.parkAfter
}

// park parks the session if it is time and nothing is under way, and reports whether it
// did. If so the session does not belong to the caller any more.
func (s *session) park() bool {
	now := time.Now()
	at := s.parkAt()
	if at.IsZero() || now.Before(at) {
		return false
	}
	// A session that cannot be parked now is not tried again so soon.
	s.parkNotBefore = now.Add(max(s.srv.parkAfter, shortestStay))
	if s.frames.Partial() || !s.pipe.Idle() {
		return false
	}
	s.frames.Shrink()
	s.chargeInput()
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	if s.stopping || s.pipe.Gone() || !s.srv.epoll.Watch(s.pipe.Socket(), s.id, s.enrolled) {
		return false
	}
	s.enrolled = true
	s.parked, s.reading = true, nil
	if end := s.endsAt(); !end.IsZero() {
		s.setAlarmLocked(end.Sub(now), s.unpark)
	}
	return true
}

// unpark wakes a session if it is parked. It does not block. Safe for concurrent use.
func (s *session) unpark() {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	s.wakeUpLocked()
}

// wakeUpLocked starts the next owner of a session if it is parked. The caller must hold
// stopMu.
func (s *session) wakeUpLocked() {
	if !s.parked {
		return
	}
	s.parked = false
	if s.alarm != nil {
		s.alarm.Stop()
	}
	go s.serve(func() error {
		s.reading = s.newReading()
		s.parkNotBefore = time.Now().Add(max(s.srv.parkDelay(), shortestStay))
		return s.talk()
	})
}

// wakeParked wakes the session of this number, whose socket has something to read. It
// does not block.
func (s *Server) wakeParked(id int64) {
	if ses := s.roster.session(id); ses != nil {
		ses.unpark()
	}
}

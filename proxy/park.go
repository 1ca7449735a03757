package proxy

import (
	"errors"
	"time"

	"github.com/redlockd/redlockd/proxy/epoll"
)

// A session that waits for its next command for a while is parked: its reading
// goroutine ends, and the server's epoll (package epoll) tells when there is
// something to read. Ten thousand idle sessions would else be as many stacks
// for the garbage collector to look through, while the busy ones wait.
//
// Who reads is told by session.parked, under stopMu:
//
//	false  one goroutine owns the session: run, or the one that wakeUp started
//	true   nobody does. The goroutine that has set it returns at once, and
//	       touches nothing of the session any more.
//
// Who finds it true and sets it to false starts the next owner, so there is one
// for each time: the epoll for data and for an end (P5), the alarm for
// idle_timeout and login_timeout, stop (S6), kill. To be woken without a reason
// does no harm: the new owner reads, finds nothing, and parks again. None of
// them is missed: stop and kill leave their mark before they look at parked,
// and park looks for the mark after it has taken stopMu; the epoll tells at
// once what had come before it was asked.
//
// All else that concerns a session needs no reader: messages and late replies
// are written by the writers.

// errParked is how a reading goroutine ends that has parked its session.
var errParked = errors.New("parked")

// parks is when the session is parked if nothing comes, zero where it never is.
func (s *session) parks() time.Time {
	if !epoll.Available || s.pipe.Socket() == nil {
		return time.Time{}
	}
	at := s.lastCommand.Add(s.srv.parksAfter())
	if at.Before(s.goesOn) {
		return s.goesOn
	}
	return at
}

// parksAfter is how long a session waits for its next command before it is
// parked.
func (s *Server) parksAfter() time.Duration {
	if s.readers.Load() > manyReaders {
		return s.parkAfter / parkSooner
	}
	return s.parkAfter
}

// park reports whether the session is parked now. Then it is not the caller's any
// more.
func (s *session) park() bool {
	now := time.Now()
	at := s.parks()
	if at.IsZero() || now.Before(at) {
		return false
	}
	// One that cannot be parked now is not asked again so soon.
	s.goesOn = now.Add(max(s.srv.parkAfter, shortestStay))
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
	if end := s.ends(); !end.IsZero() {
		s.setAlarmLocked(end.Sub(now), s.unpark)
	}
	return true
}

// unpark lets a parked session go on, and does nothing with another. It waits
// for nothing. Safe for concurrent use.
func (s *session) unpark() {
	s.stopMu.Lock()
	defer s.stopMu.Unlock()
	s.wakeUpLocked()
}

// wakeUpLocked starts the next owner of a parked session.
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
		s.goesOn = time.Now().Add(max(s.srv.parksAfter(), shortestStay))
		return s.talk()
	})
}

// wakeParked lets a session go on whose socket has something. It waits for nothing.
func (s *Server) wakeParked(id int64) {
	if ses := s.roster.session(id); ses != nil {
		ses.unpark()
	}
}

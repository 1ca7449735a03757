package proxy

import (
	"context"
	"net"
	"time"
)

// A redlockd that has lost the masters answers NOQUORUM for as long as its clients stay, and most
// client libraries stay, although another redlockd could grant their locks. They connect anew when
// a connection ends, and go to another address when one is refused: so this one may step aside.

// readyEvery is how often StepAside looks whether locks can be taken.
const readyEvery = 100 * time.Millisecond

// leastStepAside is the least Config.StepAside: masters that are slow for a moment end no
// sessions.
const leastStepAside = 500 * time.Millisecond

// StepAside ends all sessions when locks could be taken and have not been for
// Config.StepAside, and closes the listeners until they can be taken again. ready tells whether
// they can. It returns when ctx is over.
func (s *Server) StepAside(ctx context.Context, ready func() bool) {
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	var a aside
	for {
		select {
		case <-tick.C:
			was, now := a.away, time.Now() // this process may have stood still since the tick
			switch a.look(ready(), now, s.cfg().StepAside); {
			case a.away && !was:
				s.leave(now.Sub(a.since))
			case was && !a.away:
				s.roster.reopen()
				s.log.Info("accepting connections again")
			}
		case <-ctx.Done():
			return
		}
	}
}

// Aside reports whether the server has stepped aside.
func (s *Server) Aside() bool { return s.roster.shutNow() }

// aside decides whether to step aside.
type aside struct {
	// was is whether locks could be taken since the start, since is from when on they cannot;
	// zero while they can.
	was   bool
	since time.Time
	away  bool
}

// look decides anew. after is Config.StepAside.
func (a *aside) look(ready bool, now time.Time, after time.Duration) {
	switch {
	case ready:
		a.was, a.since = true, time.Time{}
	case a.since.IsZero():
		a.since = now
	}
	a.away = a.was && !ready && after > 0 && now.Sub(a.since) >= after
}

// leave closes the listeners, and ends the sessions as a stop does: what they have sent is
// answered.
func (s *Server) leave(unready time.Duration) {
	sessions := s.roster.shut()
	lastCall := time.Now().Add(s.lastCall)
	for _, ses := range sessions {
		ses.stop(&lastCall)
	}
	s.log.Warn("stepping aside until locks can be taken: ending all sessions and accepting none",
		"sessions", len(sessions), "unready", unready.Round(readyEvery).String())
}

// listenAgain waits until the server accepts connections, and opens the listener. It returns nil
// after Shutdown.
func (s *Server) listenAgain(again func() (net.Listener, error)) net.Listener {
	select {
	case <-s.roster.reopened():
	case <-s.stopped:
		return nil
	}
	pause := time.Duration(0)
	for !s.roster.stopped() {
		ln, err := again()
		if err == nil {
			return ln
		}
		s.retry(&pause, err)
	}
	return nil
}

package proxy

import (
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy/users"
)

// login logs the session in and reports whether it could. Its time depends neither on how
// much of the password is right nor on whether there is such a user. After a failed login
// from the client's address it waits first, whatever the password, so that guessing is
// slow however many connections are used for it.
func (s *session) login(name, password []byte) bool {
	if pause := s.srv.loginLimiter.Pause(s.remote()); pause > 0 && !s.sleep(pause) {
		return false
	}
	u, right := s.logins.users.Admits(string(name), password)
	if !right {
		s.srv.stats.LoginFailures.Add(1)
		// The password that was sent is not logged, nor an unknown user name, which may
		// be a password sent in the wrong place.
		if n, due := s.srv.loginLimiter.Failed(s.remote()); due {
			s.Log().Warn("login failed", "address", s.remote(), "user", u.Name(), "unreported", n)
		}
		return false
	}
	s.become(u)
	return true
}

// sleep writes the replies that are ready and waits for d before the session goes on. It
// returns false when the session is to end.
func (s *session) sleep(d time.Duration) bool {
	s.pipe.Flush()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.connClosed():
	case <-s.srv.stopped:
	}
	return false
}

// logins are the users that may log in, each with an interpreter that enforces its
// rights. They never change: a reload makes new ones.
type logins struct {
	users users.Set
	in    map[string]interpreter
}

func newLogins(cfg Config, in interpreter) *logins {
	l := &logins{users: users.New(cfg.Passwords, cfg.Users), in: make(map[string]interpreter)}
	for name, u := range l.users {
		if l.in[name] = in; !u.Unlimited() {
			// Only an Interpreter enforces rights; other implementations are fakes
			// without limited users.
			l.in[name] = in.(*commands.Interpreter).For(u)
		}
	}
	return l
}

// rights are a session's user and what it may send. They belong to the session's reading
// goroutine.
type rights struct {
	logins *logins        // in force when the last command began
	user   *users.Account // nil before login
	in     interpreter    // enforces the user's rights
}

// become gives the session a user; nil means not logged in.
func (s *session) become(u *users.Account) {
	s.user, s.in, s.holder = u, nil, nil
	name := superuser
	if u != nil {
		name = u.Name()
		s.in = s.logins.in[name]
		s.srv.roster.loggedIn(s)
	}
	s.clientInfo.change(func(c *clientState) { c.user = name })
}

// applyReload applies a reload to the session before its next command. If its user's
// rights have changed, the new ones hold from now on and a transaction is aborted. It
// returns false if the user was removed: then the session ends.
func (s *session) applyReload() bool {
	now := s.srv.logins.Load()
	if now == s.logins || s.user == nil {
		s.logins = now
		return true
	}
	s.logins = now
	u, there := now.users[s.user.Name()]
	if !there {
		return false
	}
	if !u.SameRights(s.user) {
		s.abortMulti()
	}
	s.become(u)
	return true
}

package proxy

import (
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy/users"
)

// login takes a time that does not depend on how much of the password is
// right, nor on whether there is such a user. From an address that has failed
// before it waits first, whatever the password, so that guessing is slow
// however many connections it has.
func (s *session) login(name, password []byte) bool {
	if pause := s.srv.loginLimiter.Pause(s.remote()); pause > 0 && !s.rest(pause) {
		return false
	}
	u, right := s.logins.users.Admits(string(name), password)
	if !right {
		s.srv.stats.LoginFailures.Add(1)
		// What was sent as the password is not logged, nor a name that is nobody's,
		// which may be one.
		if n, due := s.srv.loginLimiter.Failed(s.remote()); due {
			s.Log().Warn("login failed", "address", s.remote(), "user", u.Name(), "unreported", n)
		}
		return false
	}
	s.become(u)
	return true
}

// rest waits with what was read, and is false when the session is to end. What
// was answered goes out before.
func (s *session) rest(d time.Duration) bool {
	s.pipe.Flush()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.died():
	case <-s.srv.stopped:
	}
	return false
}

// logins are who may log in, each with the commands that it may send. They never
// change: a reload makes others.
type logins struct {
	users users.Set
	in    map[string]interpreter
}

func newLogins(cfg Config, in interpreter) *logins {
	l := &logins{users: users.New(cfg.Passwords, cfg.Users), in: make(map[string]interpreter)}
	for name, u := range l.users {
		if l.in[name] = in; !u.Unlimited() {
			// Only an Interpreter knows of rights; others are fakes without users.
			l.in[name] = in.(*commands.Interpreter).For(u)
		}
	}
	return l
}

// rights are who a session is and what it may send. They belong to its reading
// goroutine.
type rights struct {
	logins *logins        // as the last command found them
	user   *users.Account // nil before login
	in     interpreter    // its commands
}

// become makes the session that of a user; nil is nobody yet.
func (s *session) become(u *users.Account) {
	s.user, s.in, s.holder = u, nil, nil
	name := superuser
	if u != nil {
		name = u.Name()
		s.in = s.logins.in[name]
		s.srv.roster.proved(s)
	}
	s.clientInfo.change(func(c *clientState) { c.user = name })
}

// current follows a reload: the session's user may have other rights, which
// hold for the next command and end its transaction, or be no more; then it is
// false and the session ends.
func (s *session) current() bool {
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

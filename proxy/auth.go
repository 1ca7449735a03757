package proxy

import (
	"time"

	"github.com/redlockd/redlockd/internal/resp"
)

var (
	errWrongPass  = resp.Error("WRONGPASS invalid username-password pair or user is disabled.")
	errNoPassword = resp.Error("ERR AUTH <password> called without any password configured for the default user. " +
		"Are you sure your configuration is correct?")
)

// auth is AUTH password and AUTH user password.
func (s *session) auth(args [][]byte) resp.Reply {
	name, password := []byte(defaultName), args[1]
	switch {
	case len(args) > 3:
		return errSyntax
	case len(args) == 3:
		name, password = args[1], args[2]
	case (*s.users).open() != nil:
		return errNoPassword
	}
	if !s.login(name, password) {
		return errWrongPass
	}
	return resp.OK
}

// login takes a time that does not depend on how much of the password is
// right, nor on whether there is such a user. From an address that has failed
// before it waits first, whatever the password, so that guessing is slow
// however many connections it has.
func (s *session) login(name, password []byte) bool {
	if pause := s.srv.loginLimiter.pause(s.remote()); pause > 0 && !s.rest(pause) {
		return false
	}
	u, known := (*s.users)[string(name)]
	if !known {
		u = nobody
	}
	if !u.admits(password) {
		s.srv.stats.LoginFailures.Add(1)
		s.srv.loginLimiter.failed(s, u.name)
		return false
	}
	s.become(u)
	return true
}

// rest waits with what was read, and is false when the session is to end. What
// was answered goes out before.
func (s *session) rest(d time.Duration) bool {
	s.pipe.flush()
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

// nobody is compared with where there is no such user.
var nobody = &user{name: "(unknown)", sums: make([][32]byte, 1)}

// superuser is Redis's name for a client that is nobody.
const superuser = "(superuser)"

// become makes the session that of a user; nil is nobody yet.
func (s *session) become(u *user) {
	s.user, s.holder = u, nil
	name := superuser
	if u != nil {
		name = u.name
		s.srv.loggedIn(s)
	}
	s.clientInfo.mu.Lock()
	s.clientInfo.user = name
	s.clientInfo.mu.Unlock()
}

// current follows a reload: the session's user may have other rights, which
// hold for the next command and end its transaction, or be no more; then it is
// false and the session ends.
func (s *session) current() bool {
	now := s.srv.users.Load()
	if now == s.users || s.user == nil {
		s.users = now
		return true
	}
	s.users = now
	u, there := (*now)[s.user.name]
	if !there {
		return false
	}
	if !u.mayAs(s.user) {
		s.abortMulti()
	}
	s.become(u)
	return true
}

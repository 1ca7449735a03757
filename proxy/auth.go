package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"

	"github.com/redlockd/redlockd/commands"
)

var (
	errWrongPass  = commands.Error("WRONGPASS invalid username-password pair or user is disabled.")
	errNoPassword = commands.Error("ERR AUTH <password> called without any password configured for the default user. " +
		"Are you sure your configuration is correct?")
)

// auth is AUTH password and AUTH default password.
func (s *session) auth(args [][]byte) commands.Reply {
	user, password := []byte("default"), args[1]
	switch {
	case len(args) > 3:
		return errSyntax
	case len(args) == 3:
		user, password = args[1], args[2]
	case s.srv.cfg.Password == "":
		return errNoPassword
	}
	if !s.login(user, password) {
		return errWrongPass
	}
	return commands.OK
}

// login takes a time that does not depend on how much of the password is
// right. Without a configured password the default user has any.
func (s *session) login(user, password []byte) bool {
	want := s.srv.cfg.Password
	a, b := sha256.Sum256(password), sha256.Sum256([]byte(want))
	right := want == "" || subtle.ConstantTimeCompare(a[:], b[:]) == 1
	if string(user) != "default" || !right {
		s.srv.logins.failed(s)
		return false
	}
	s.authed = true
	return true
}

// failedLogins keeps the warnings of failed logins to one a second.
type failedLogins struct {
	mu         sync.Mutex
	last       time.Time
	suppressed int
}

func (f *failedLogins) failed(s *session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Sub(f.last) < time.Second {
		f.suppressed++
		return
	}
	s.log.Warn("login failed", "address", s.conn.RemoteAddr().String(), "unreported", f.suppressed)
	f.last, f.suppressed = now, 0
}

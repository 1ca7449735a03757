package proxy

import (
	"slices"

	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/proxy/users"
)

// Reload takes users, passwords and limits of another configuration (S6); its
// Address is not looked at. No session is dropped, except as on Redis: those of
// users that are no more (ACL DELUSER), and subscribers to channels that their
// user may no longer hear. A session whose password has changed stays (ACL
// SETUSER), with the rights that its user has now. It is safe for concurrent
// use with everything but itself.
func (s *Server) Reload(cfg Config) {
	cfg.Address = s.cfg().Address
	s.conf.Store(&cfg)
	logins := newLogins(cfg, s.in)
	now := logins.users
	s.logins.Store(logins)
	s.setLimits(cfg)
	ended := 0
	gone := s.forbidden(now)
	for _, ses := range s.clients() {
		name := ses.userName()
		if _, there := now[name]; (name != "" && !there) || slices.Contains(gone, ses) {
			ses.Kill()
			ended++
		}
	}
	s.log.Info("users and limits reloaded", "users", len(now), "ended_sessions", ended)
}

// userName is the name of the session's user, empty for none. Safe for
// concurrent use.
func (s *session) userName() string {
	s.clientInfo.mu.Lock()
	defer s.clientInfo.mu.Unlock()
	if s.clientInfo.user == superuser {
		return ""
	}
	return s.clientInfo.user
}

// forbidden are the sessions that listen to what their users may not hear.
func (s *Server) forbidden(all users.Set) (list []*session) {
	s.hub.Each(func(sub notify.Subscriber, kind int, name string) {
		ses := sub.(*session)
		u := all[ses.userName()]
		if u != nil && (kind == notify.Pattern && !u.Pattern(name) || kind != notify.Pattern && !u.Channel(name)) {
			list = append(list, ses)
		}
	})
	return list
}

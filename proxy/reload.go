package proxy

import (
	"slices"

	"github.com/redlockd/redlockd/commands"
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
	all := newLogins(cfg, s.in)
	now := all.users
	s.logins.Store(all)
	s.setLimits(cfg)
	ended := 0
	gone := s.forbidden(now)
	for _, ses := range s.clients() {
		name := ses.clientInfo.userName()
		if _, there := now[name]; (name != "" && !there) || slices.Contains(gone, ses) {
			ses.Kill()
			ended++
		}
	}
	s.log.Info("users and limits reloaded", "users", len(now), "ended_sessions", ended)
}

// forbidden are the sessions that listen to what their users may not hear.
func (s *Server) forbidden(all users.Set) (list []*session) {
	s.hub.Each(func(sub notify.Subscriber, kind int, name string) {
		ses := sub.(*session)
		u := all[ses.clientInfo.userName()]
		if u != nil && (kind == notify.Pattern && !u.Pattern(name) || kind != notify.Pattern && !u.Channel(name)) {
			list = append(list, ses)
		}
	})
	return list
}

// setLimits hands down those that package commands looks after; fakes have
// none.
func (s *Server) setLimits(cfg Config) {
	if in, ok := s.in.(*commands.Interpreter); ok {
		in.Limit(cfg.MaxKeyBytes, cfg.MaxTokenBytes)
	}
}

package proxy

import (
	"slices"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/proxy/users"
)

// Reload takes users, passwords and limits of another configuration (S6), and StepAside; its
// Address, Unix and Mode are ignored. It ends no session, except as Redis does: those of users
// that were removed (ACL DELUSER), and of subscribers to channels that their user may not
// subscribe to any more. A session whose password has changed stays (ACL SETUSER), with the
// rights that its user has now. It is safe for concurrent use with everything but itself.
func (s *Server) Reload(cfg Config) {
	s.conf.Store(&cfg)
	all := newLogins(cfg, s.in)
	now := all.users
	s.logins.Store(all)
	s.setLimits(cfg)
	ended := 0
	gone := s.subscribedWithoutRight(now)
	for _, ses := range s.clients() {
		name := ses.clientInfo.userName()
		if _, there := now[name]; (name != "" && !there) || slices.Contains(gone, ses) {
			ses.Kill()
			ended++
		}
	}
	s.log.Info("users and limits reloaded", "users", len(now), "ended_sessions", ended)
}

// subscribedWithoutRight returns the sessions with a subscription that their user has no
// right to.
func (s *Server) subscribedWithoutRight(all users.Set) (list []*session) {
	s.hub.Each(func(sub notify.Subscriber, kind int, name string) {
		ses := sub.(*session)
		u := all[ses.clientInfo.userName()]
		if u != nil && (kind == notify.Pattern && !u.Pattern(name) || kind != notify.Pattern && !u.Channel(name)) {
			list = append(list, ses)
		}
	})
	return list
}

// setLimits passes on the limits that package commands enforces; fakes have none.
func (s *Server) setLimits(cfg Config) {
	if in, ok := s.in.(*commands.Interpreter); ok {
		in.Limit(cfg.MaxKeyBytes, cfg.MaxTokenBytes)
	}
}

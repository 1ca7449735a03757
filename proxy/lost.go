package proxy

import (
	"encoding/json"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/proxy/notify"
)

// lostChannel is the channel on which redlockd tells of locks that were lost.
const lostChannel = "__redlockd__:lost"

// maxLoggedKey bounds the part of a key that the log shows.
const maxLoggedKey = 256

// tellLost counts a lock that was lost, tells the subscribers that may hear of it, and, once a
// minute for a key, the log.
func (s *Server) tellLost(l history.Lost) {
	s.stats.CountLost(l.Cause)
	s.hub.PublishTo(lostChannel, lostMessage(l), func(sub notify.Subscriber) bool {
		u := s.logins.Load().users[sub.(*session).clientInfo.userName()]
		return u != nil && u.May(commands.MayAdmin) && u.Key(l.Key)
	})
	now := time.Now()
	if n, due := s.mentions.Due(l.DB, l.Key, now); due {
		s.log.Warn("a lock was lost, and its holder asks for it", "key", resp.Clean([]byte(l.Key), maxLoggedKey), "db", l.DB, "cause", l.Cause,
			"since", time.UnixMilli(l.Since).UTC().Format(time.RFC3339Nano), "ttl_over_for", now.Sub(time.UnixMilli(l.Until)).Round(time.Millisecond).String(),
			"holder_address", l.Holder.Address, "holder_name", l.Holder.Name, "holder_user", l.Holder.User,
			"asked_by", l.By.Address, "unreported", n)
	}
}

// lostMessage returns the message about a lock, in JSON. Times are in milliseconds since 1970.
func lostMessage(l history.Lost) string {
	type holder struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
		Addr string `json:"addr"`
		User string `json:"user"`
	}
	text, err := json.Marshal(struct {
		DB     int    `json:"db"`
		Key    string `json:"key"`
		Cause  string `json:"cause"`
		Since  int64  `json:"since"`
		Until  int64  `json:"until"`
		Holder holder `json:"holder"`
	}{l.DB, l.Key, l.Cause.String(), l.Since, l.Until, holder{l.Holder.Session, l.Holder.Name, l.Holder.Address, l.Holder.User}})
	if err != nil {
		panic(err) // all of it is of this package
	}
	return string(text)
}

// Lost returns how many locks were lost, by cause.
func (s *Server) Lost() map[string]uint64 { return s.stats.Lost() }

// Times returns how long locks were waited for and held, by the patterns of the configuration.
func (s *Server) Times() []history.Times { return s.held.Times() }

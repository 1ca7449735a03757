package proxy

import (
	"bytes"
	"slices"
	"strings"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/notify"
	"github.com/redlockd/redlockd/quorum"
)

// maxSubscriptionBytes bounds about the memory of one session's subscriptions.
const maxSubscriptionBytes = 1 << 20

// subscribeCommand is SUBSCRIBE, PSUBSCRIBE and SSUBSCRIBE: one reply for each name. A
// name joins the hub after its reply is queued, so that no message overtakes the reply.
// The reply waits until a quorum of the masters has the names, which is bounded in time:
// what is released after it is heard (S7).
func subscribeCommand(s *session, args [][]byte) {
	kind, command := subscriptionKind(args[0])
	if kind != notify.Shard && slices.ContainsFunc(args[1:], ofKeyspace) {
		s.refuse(errKeyspace)
		return
	}
	size := s.subs.Size()
	for _, a := range args[1:] {
		size += notify.Cost(string(a))
	}
	if size > maxSubscriptionBytes {
		s.refuse(resp.Error("ERR too many subscriptions for one connection"))
		return
	}
	replies := make([]resp.Reply, 0, len(args)-1)
	ready, fresh := make(chan struct{}, len(args)), 0
	for _, a := range args[1:] {
		if s.subs.Add(kind, string(a)) {
			fresh++
			s.srv.relay.Follow(kind, string(a), func() { ready <- struct{}{} })
		}
		replies = append(replies, resp.Push(resp.Bulk(command), resp.Bulk(string(a)), resp.Int(s.subs.Total(kind))))
	}
	if !s.awaitReady(ready, fresh) {
		return
	}
	answerSeveral(s, replies)
	for _, a := range args[1:] {
		s.srv.hub.Join(s, kind, string(a))
	}
}

// awaitReady waits for n elements. It returns false when the connection has ended meanwhile.
func (s *session) awaitReady(ready <-chan struct{}, n int) bool {
	if len(ready) < n {
		s.pipe.Flush()
	}
	for range n {
		select {
		case <-ready:
		case <-s.connClosed():
			return false
		}
	}
	return true
}

// errKeyspace refuses to subscribe to the events of keys. Locks are on the masters, so
// redlockd does not see most of these events, and who waits for one might wait for ever.
var errKeyspace = resp.Error("ERR redlockd sends no keyspace notifications, so it takes no subscription that begins with '__key'")

// ofKeyspace reports whether a channel or pattern is one for the events of keys
// (__keyspace@0__:name, __keyevent@0__:expired).
func ofKeyspace(name []byte) bool { return bytes.HasPrefix(name, []byte("__key")) }

// unsubscribeCommand is UNSUBSCRIBE, PUNSUBSCRIBE and SUNSUBSCRIBE; without names it ends
// all subscriptions of its kind.
func unsubscribeCommand(s *session, args [][]byte) {
	kind, command := subscriptionKind(args[0])
	var names []string
	for _, a := range args[1:] {
		names = append(names, string(a))
	}
	if len(args) == 1 {
		names = s.subs.Names(kind)
	}
	var replies []resp.Reply
	for _, name := range names {
		if s.subs.Drop(kind, name) {
			s.srv.hub.Part(s, kind, name)
			s.srv.relay.Unfollow(kind, name)
		}
		replies = append(replies, resp.Push(resp.Bulk(command), resp.Bulk(name), resp.Int(s.subs.Total(kind))))
	}
	if len(replies) == 0 {
		replies = append(replies, resp.Push(resp.Bulk(command), resp.Null, resp.Int(s.subs.Total(kind))))
	}
	answerSeveral(s, replies)
}

// answerSeveral answers in several pushes, also after CLIENT REPLY OFF.
func answerSeveral(s *session, replies []resp.Reply) {
	sl := s.slot(resp.Array(replies...))
	sl.SeparateReplies, sl.Silent = true, false
	s.pipe.Add(sl)
}

// subscriptionKind returns the kind that a command subscribes to or unsubscribes from,
// and its name in lower case.
func subscriptionKind(name []byte) (kind int, command string) {
	command = strings.ToLower(string(name))
	switch strings.TrimSuffix(command, "subscribe") {
	case "p", "pun":
		return notify.Pattern, command
	case "s", "sun":
		return notify.Shard, command
	}
	return notify.Channel, command
}

// publishCommand sends its message when the commands before it were carried out: a message
// that wakes a waiter ("the lock is free") must not overtake the release before it.
func publishCommand(s *session, args [][]byte) {
	sharded, channel, text := grammar.Is(args[0], "spublish"), string(args[1]), string(args[2])
	sl := s.slot(resp.Int(0))
	sl.Size += len(channel) + len(text)
	sl.After = func([]*quorum.Outcome) { sl.Reply = resp.Int(s.srv.relay.Publish(sharded, channel, text)) }
	s.pipe.Add(sl)
}

// publishNow is PUBLISH inside MULTI.
func publishNow(s *session, args [][]byte) resp.Reply {
	return resp.Int(s.srv.relay.Publish(grammar.Is(args[0], "spublish"), string(args[1]), string(args[2])))
}

package proxy

import (
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
func subscribeCommand(s *session, args [][]byte) {
	kind, command := subscriptionKind(args[0])
	size := s.subs.Size()
	for _, a := range args[1:] {
		size += notify.Cost(string(a))
	}
	if size > maxSubscriptionBytes {
		s.refuse(resp.Error("ERR too many subscriptions for one connection"))
		return
	}
	replies := make([]resp.Reply, 0, len(args)-1)
	for _, a := range args[1:] {
		s.subs.Add(kind, string(a))
		replies = append(replies, resp.Push(resp.Bulk(command), resp.Bulk(string(a)), resp.Int(s.subs.Total(kind))))
	}
	answerSeveral(s, replies)
	for _, a := range args[1:] {
		s.srv.hub.Join(s, kind, string(a))
	}
}

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
		s.srv.hub.Part(s, kind, name)
		s.subs.Drop(kind, name)
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
	sl.After = func([]*quorum.Outcome) { sl.Reply = resp.Int(s.srv.hub.Publish(sharded, channel, text)) }
	s.pipe.Add(sl)
}

// publishNow is PUBLISH inside MULTI.
func publishNow(s *session, args [][]byte) resp.Reply {
	return resp.Int(s.srv.hub.Publish(grammar.Is(args[0], "spublish"), string(args[1]), string(args[2])))
}

// pubsubCommand is PUBSUB CHANNELS, NUMSUB, NUMPAT and their forms for shard channels.
func pubsubCommand(s *session, args [][]byte) resp.Reply {
	h := s.srv.hub
	switch {
	case grammar.Is(args[1], "channels") && len(args) <= 3:
		return channelNames(h, notify.Channel, args[2:])
	case grammar.Is(args[1], "shardchannels") && len(args) <= 3:
		return channelNames(h, notify.Shard, args[2:])
	case grammar.Is(args[1], "numsub"):
		return subscriberNumbers(h, notify.Channel, args[2:])
	case grammar.Is(args[1], "shardnumsub"):
		return subscriberNumbers(h, notify.Shard, args[2:])
	case grammar.Is(args[1], "numpat"):
		if len(args) != 2 {
			return wrongArity("pubsub|numpat")
		}
		return resp.Int(int64(h.Counts()[notify.Pattern]))
	case grammar.Is(args[1], "help") && len(args) == 2:
		return pubsubHelp
	}
	return unknownSubcommand("pubsub", args[1])
}

var pubsubHelp = help(
	"PUBSUB <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
	"CHANNELS [<pattern>]",
	"    Return the currently active channels matching a <pattern> (default: '*').",
	"NUMPAT",
	"    Return number of subscriptions to patterns.",
	"NUMSUB [<channel> ...]",
	"    Return the number of subscribers for the specified channels, excluding",
	"    pattern subscriptions(default: no channels).",
	"SHARDCHANNELS [<pattern>]",
	"    Return the currently active shard level channels matching a <pattern> (default: '*').",
	"SHARDNUMSUB [<shardchannel> ...]",
	"    Return the number of subscribers for the specified shard level channel(s)",
	"HELP",
	"    Prints this help.",
)

func channelNames(h *notify.Hub, kind int, pattern [][]byte) resp.Reply {
	var items []resp.Reply
	for _, name := range h.Names(kind) {
		if len(pattern) == 0 || resp.Glob(string(pattern[0]), name) {
			items = append(items, resp.Bulk(name))
		}
	}
	return resp.Array(items...)
}

func subscriberNumbers(h *notify.Hub, kind int, args [][]byte) resp.Reply {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = string(a)
	}
	var items []resp.Reply
	for i, n := range h.Subscribers(kind, names) {
		items = append(items, resp.Bulk(names[i]), resp.Int(int64(n)))
	}
	return resp.Array(items...)
}

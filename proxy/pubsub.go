package proxy

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
)

// The three kinds of subscription.
const (
	channelKind = iota
	patternKind
	shardKind
	kinds
)

// subscriptions are what one session is subscribed to, by kind. They belong
// to its reading goroutine.
type subscriptions struct {
	names [kinds]map[string]struct{}
	size  int // of the names, about
}

func (sub *subscriptions) count() int {
	return len(sub.names[channelKind]) + len(sub.names[patternKind]) + len(sub.names[shardKind])
}

// totalAfter is the number that a reply to a subscription of this kind bears.
func (sub *subscriptions) totalAfter(kind int) int64 {
	if kind == shardKind {
		return int64(len(sub.names[shardKind]))
	}
	return int64(len(sub.names[channelKind]) + len(sub.names[patternKind]))
}

// subscribed is about the memory that one subscription takes.
func subscribed(name string) int { return len(name) + 64 }

func (sub *subscriptions) add(kind int, name string) {
	if sub.names[kind] == nil {
		sub.names[kind] = make(map[string]struct{})
	}
	if _, there := sub.names[kind][name]; !there {
		sub.names[kind][name] = struct{}{}
		sub.size += subscribed(name)
	}
}

func (sub *subscriptions) drop(kind int, name string) {
	if _, there := sub.names[kind][name]; there {
		delete(sub.names[kind], name)
		sub.size -= subscribed(name)
	}
}

// hub hands messages from publishers to the subscribers of this redlockd;
// what is published at another one is not heard here. Safe for concurrent use.
type hub struct {
	mu   sync.Mutex
	subs [kinds]map[string]map[*session]struct{}
}

func (h *hub) init() {
	for k := range h.subs {
		h.subs[k] = make(map[string]map[*session]struct{})
	}
}

func (h *hub) join(s *session, kind int, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	set := h.subs[kind][name]
	if set == nil {
		set = make(map[*session]struct{})
		h.subs[kind][name] = set
	}
	set[s] = struct{}{}
}

func (h *hub) part(s *session, kind int, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.drop(s, kind, name)
}

func (h *hub) drop(s *session, kind int, name string) {
	set := h.subs[kind][name]
	delete(set, s)
	if len(set) == 0 {
		delete(h.subs[kind], name)
	}
}

// leave ends all subscriptions of a session, from its reading goroutine.
func (h *hub) leave(s *session) {
	if s.subs.count() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for kind, names := range s.subs.names {
		for name := range names {
			h.drop(s, kind, name)
		}
	}
}

// publish hands a message to all who listen and returns how many did. All
// subscribers see the messages in one order, because it holds the mutex.
func (h *hub) publish(sharded bool, channel, text string) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if sharded {
		return deliver(h.subs[shardKind][channel], "smessage", channel, text)
	}
	n := deliver(h.subs[channelKind][channel], "message", channel, text)
	for pattern, set := range h.subs[patternKind] {
		if resp.Glob(pattern, channel) {
			n += deliver(set, "pmessage", pattern, channel, text)
		}
	}
	return n
}

func deliver(to map[*session]struct{}, parts ...string) int64 {
	r := resp.Reply{Kind: resp.KindPush, Items: resp.Bulks(parts...)}
	size := messageOverhead
	for _, part := range parts {
		size += len(part)
	}
	for s := range to {
		if !s.pipe.message(&slot{reply: r, proto: s.protocol(), message: true, size: size}) {
			s.log().Warn("subscriber does not read its messages, closing", "waiting_bytes", maxMessageBytes)
			s.kill()
		}
	}
	return int64(len(to))
}

// subscribe is SUBSCRIBE, PSUBSCRIBE and SSUBSCRIBE: one reply for each name.
// A name is entered after its reply is queued, so no message comes before it.
func (s *session) subscribe(args [][]byte) {
	kind, command := subscriptionKind(args[0])
	size := s.subs.size
	for _, a := range args[1:] {
		size += subscribed(string(a))
	}
	if size > maxSubscriptionBytes {
		s.refuse(resp.Error("ERR too many subscriptions for one connection"))
		return
	}
	replies := make([]resp.Reply, 0, len(args)-1)
	for _, a := range args[1:] {
		s.subs.add(kind, string(a))
		replies = append(replies, resp.Push(resp.Bulk(command), resp.Bulk(string(a)), resp.Int(s.subs.totalAfter(kind))))
	}
	s.answerSeveral(replies)
	for _, a := range args[1:] {
		s.srv.hub.join(s, kind, string(a))
	}
}

// unsubscribe is UNSUBSCRIBE and its kin; without names it ends all of them.
func (s *session) unsubscribe(args [][]byte) {
	kind, command := subscriptionKind(args[0])
	var names []string
	for _, a := range args[1:] {
		names = append(names, string(a))
	}
	if len(args) == 1 {
		names = slices.Sorted(maps.Keys(s.subs.names[kind]))
	}
	var replies []resp.Reply
	for _, name := range names {
		s.srv.hub.part(s, kind, name)
		s.subs.drop(kind, name)
		replies = append(replies, resp.Push(resp.Bulk(command), resp.Bulk(name), resp.Int(s.subs.totalAfter(kind))))
	}
	if len(replies) == 0 {
		replies = append(replies, resp.Push(resp.Bulk(command), resp.Null, resp.Int(s.subs.totalAfter(kind))))
	}
	s.answerSeveral(replies)
}

// answerSeveral answers in several pushes, also where CLIENT REPLY is OFF.
func (s *session) answerSeveral(replies []resp.Reply) {
	sl := s.slot(resp.Array(replies...))
	sl.several, sl.silent = true, false
	s.pipe.add(sl)
}

// subscriptionKind tells what a (un)subscribing command is about.
func subscriptionKind(name []byte) (kind int, command string) {
	command = strings.ToLower(string(name))
	switch strings.TrimSuffix(command, "subscribe") {
	case "p", "pun":
		return patternKind, command
	case "s", "sun":
		return shardKind, command
	}
	return channelKind, command
}

// publish sends when its turn to be answered comes: a message that wakes a
// waiter ("the lock is free") must not overtake the release before it.
func (s *session) publish(args [][]byte) {
	sharded, channel, text := grammar.Is(args[0], "spublish"), string(args[1]), string(args[2])
	sl := s.slot(resp.Int(0))
	sl.size += len(channel) + len(text)
	sl.late = func() resp.Reply { return resp.Int(s.srv.hub.publish(sharded, channel, text)) }
	s.pipe.add(sl)
}

// publishNow is PUBLISH inside MULTI.
func (s *session) publishNow(args [][]byte) resp.Reply {
	return resp.Int(s.srv.hub.publish(grammar.Is(args[0], "spublish"), string(args[1]), string(args[2])))
}

// pubsub is PUBSUB CHANNELS, NUMSUB, NUMPAT and their sharded kin.
func (s *session) pubsub(args [][]byte) resp.Reply {
	h := &s.srv.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case grammar.Is(args[1], "channels") && len(args) <= 3:
		return h.names(channelKind, args[2:])
	case grammar.Is(args[1], "shardchannels") && len(args) <= 3:
		return h.names(shardKind, args[2:])
	case grammar.Is(args[1], "numsub"):
		return h.numbers(channelKind, args[2:])
	case grammar.Is(args[1], "shardnumsub"):
		return h.numbers(shardKind, args[2:])
	case grammar.Is(args[1], "numpat"):
		if len(args) != 2 {
			return wrongArity("pubsub|numpat")
		}
		return resp.Int(int64(len(h.subs[patternKind])))
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

func (h *hub) names(kind int, pattern [][]byte) resp.Reply {
	var items []resp.Reply
	for _, name := range slices.Sorted(maps.Keys(h.subs[kind])) {
		if len(pattern) == 0 || resp.Glob(string(pattern[0]), name) {
			items = append(items, resp.Bulk(name))
		}
	}
	return resp.Array(items...)
}

func (h *hub) numbers(kind int, names [][]byte) resp.Reply {
	var items []resp.Reply
	for _, name := range names {
		items = append(items, resp.Bulk(string(name)), resp.Int(int64(len(h.subs[kind][string(name)]))))
	}
	return resp.Array(items...)
}

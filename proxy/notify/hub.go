package notify

import (
	"sync"

	"github.com/redlockd/redlockd/internal/resp"
)

// messageOverhead is what a waiting message costs besides its bytes.
const messageOverhead = 256

// A Subscriber receives the messages of the channels and patterns it is subscribed to.
type Subscriber interface {
	// Message queues a message of about size bytes. It does not block.
	Message(r resp.Reply, size int)
}

// Hub delivers messages to the subscribers of this redlockd. Safe for concurrent use.
type Hub struct {
	mu   sync.Mutex
	subs [Kinds]map[string]map[Subscriber]struct{}
}

// NewHub returns a hub without subscribers.
func NewHub() *Hub {
	h := &Hub{}
	for k := range h.subs {
		h.subs[k] = make(map[string]map[Subscriber]struct{})
	}
	return h
}

// Join subscribes s to a name.
func (h *Hub) Join(s Subscriber, kind int, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	set := h.subs[kind][name]
	if set == nil {
		set = make(map[Subscriber]struct{})
		h.subs[kind][name] = set
	}
	set[s] = struct{}{}
}

// Part ends one subscription.
func (h *Hub) Part(s Subscriber, kind int, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropLocked(s, kind, name)
}

func (h *Hub) dropLocked(s Subscriber, kind int, name string) {
	set := h.subs[kind][name]
	delete(set, s)
	if len(set) == 0 {
		delete(h.subs[kind], name)
	}
}

// Leave ends all subscriptions of a subscriber. Its reading goroutine must call it.
func (h *Hub) Leave(s Subscriber, all *Subscriptions) {
	if all.Count() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for kind, names := range all.names {
		for name := range names {
			h.dropLocked(s, kind, name)
		}
	}
}

// Publish delivers a message to all subscribers of the channel and returns their number.
// All subscribers see the messages in one order, because the mutex is held.
func (h *Hub) Publish(sharded bool, channel, text string) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if sharded {
		return deliver(h.subs[Shard][channel], everybody, "smessage", channel, text)
	}
	return h.publishLocked(channel, text, everybody)
}

// PublishTo is Publish to those subscribers only that may hear it. may must not call the hub.
func (h *Hub) PublishTo(channel, text string, may func(Subscriber) bool) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.publishLocked(channel, text, may)
}

func everybody(Subscriber) bool { return true }

func (h *Hub) publishLocked(channel, text string, may func(Subscriber) bool) int64 {
	n := deliver(h.subs[Channel][channel], may, "message", channel, text)
	for pattern, set := range h.subs[Pattern] {
		if resp.Glob(pattern, channel) {
			n += deliver(set, may, "pmessage", pattern, channel, text)
		}
	}
	return n
}

// publishPlain delivers what was heard on a channel, or by a pattern if that is not empty, to
// those that are subscribed to just that: it comes once for each of them.
func (h *Hub) publishPlain(channel, pattern, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if pattern != "" {
		deliver(h.subs[Pattern][pattern], everybody, "pmessage", pattern, channel, text)
		return
	}
	deliver(h.subs[Channel][channel], everybody, "message", channel, text)
}

func deliver(to map[Subscriber]struct{}, may func(Subscriber) bool, parts ...string) (n int64) {
	r := resp.Push(resp.Bulks(parts...)...)
	size := messageOverhead
	for _, part := range parts {
		size += len(part)
	}
	for s := range to {
		if may(s) {
			s.Message(r, size)
			n++
		}
	}
	return n
}

// Counts returns how many names of each kind have subscribers.
func (h *Hub) Counts() (n [Kinds]int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for kind := range h.subs {
		n[kind] = len(h.subs[kind])
	}
	return n
}

// Each calls f for every subscription. f must not call the hub.
func (h *Hub) Each(f func(s Subscriber, kind int, name string)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for kind, names := range h.subs {
		for name, set := range names {
			for s := range set {
				f(s, kind, name)
			}
		}
	}
}

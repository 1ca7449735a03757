package notify

import (
	"strconv"
	"strings"
	"time"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/quorum"
)

// The kinds of messages between redlockd.
const (
	published byte = 'p' // on a channel
	sharded   byte = 's' // to shard subscribers
	filled    byte = 'f' // a list; its lock and its items
)

// Relay joins the hub and the signals of this redlockd to those of the others (S7). Safe for
// concurrent use.
type Relay struct {
	hub     *Hub
	signals *Signals
	bus     quorum.Bus
}

// NewRelay returns the relay of a hub and signals; connect returns the way to the others.
func NewRelay(hub *Hub, signals *Signals, connect func(deliver func(quorum.Message)) quorum.Bus) *Relay {
	r := &Relay{hub: hub, signals: signals}
	r.bus = connect(r.receive)
	return r
}

// Publish delivers a message here and at the others, and returns how many subscribers it
// has reached here.
func (r *Relay) Publish(toShard bool, channel, text string) int64 {
	n, kind := r.hub.Publish(toShard, channel, text), published
	if toShard {
		kind = sharded
	}
	r.bus.Publish(kind, channel, text)
	return n
}

// Fill is Signals.Fill, and wakes the waiters of the others.
func (r *Relay) Fill(n commands.Notice, now time.Time) {
	r.signals.Fill(n, now)
	r.bus.Publish(filled, listName(Signal{n.DB, n.Signal}), append([]string{n.Lock}, n.Items...)...)
}

// Follow has what is published elsewhere under a name delivered here. ready is called once,
// when a quorum of the masters has confirmed that, or after timeout. It must neither block
// nor call the relay.
func (r *Relay) Follow(kind int, name string, ready func()) {
	r.bus.Subscribe(subscriptionOf(kind, name), ready)
}

// Unfollow takes one Follow back.
func (r *Relay) Unfollow(kind int, name string) { r.bus.Unsubscribe(subscriptionOf(kind, name)) }

// Leave ends all subscriptions of a subscriber. Its reading goroutine must call it.
func (r *Relay) Leave(s Subscriber, all *Subscriptions) {
	r.hub.Leave(s, all)
	for kind, names := range all.names {
		for name := range names {
			r.Unfollow(kind, name)
		}
	}
}

// Await has a waiter woken by what fills its lists elsewhere. The returned channel gets an
// element for each list, when that can be relied on or is given up; whoever released the
// lock before then is not heard. stop takes it back.
func (r *Relay) Await(w *Waiter) (ready <-chan struct{}, stop func()) {
	confirmed := make(chan struct{}, len(w.Wants))
	for _, at := range w.Wants {
		r.bus.Subscribe(quorum.Subscription{Name: listName(at)}, func() { confirmed <- struct{}{} })
	}
	return confirmed, func() {
		for _, at := range w.Wants {
			r.bus.Unsubscribe(quorum.Subscription{Name: listName(at)})
		}
	}
}

// receive delivers what another redlockd has published, or a client of the required master.
func (r *Relay) receive(m quorum.Message) {
	switch {
	case len(m.Parts) == 0:
	case m.Kind == quorum.Plain && !strings.HasPrefix(m.Channel, keyEvents):
		r.hub.publishPlain(m.Channel, m.Pattern, m.Parts[0])
	case m.Kind == published, m.Kind == sharded:
		r.hub.Publish(m.Kind == sharded, m.Channel, m.Parts[0])
	case m.Kind == filled:
		if at, ok := listOf(m.Channel); ok {
			r.signals.Wake(at, m.Parts[0], m.Parts[1:], time.Now())
		}
	}
}

// keyEvents begins the channels of keyspace notifications, of which redlockd has none (C4).
const keyEvents = "__key"

func subscriptionOf(kind int, name string) quorum.Subscription {
	return quorum.Subscription{Name: name, Pattern: kind == Pattern, Plain: kind != Shard}
}

// listName is the name under which it is published that a list is filled, listOf its
// inverse.
func listName(at Signal) string { return strconv.Itoa(at.DB) + ":" + at.Key }

func listOf(name string) (at Signal, ok bool) {
	db, key, ok := strings.Cut(name, ":")
	n, err := strconv.Atoi(db)
	return Signal{n, key}, ok && err == nil
}

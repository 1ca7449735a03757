package pubsub

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// quorum returns how many masters must confirm a subscription, so that whoever publishes on
// a quorum reaches one of them. The caller must hold mu.
func (b *Bus) quorum() int { return vote.Majority(len(b.peers)) }

// hopeless reports whether a quorum cannot confirm a subscription, because the others lack
// the right. The caller must hold mu.
func (b *Bus) hopeless() bool {
	n := 0
	for _, p := range b.peers {
		if !p.refused {
			n++
		}
	}
	return n < b.quorum()
}

// Subscribe has the masters send what is published under a name. ready is called once, when
// a quorum of them has confirmed that, when that cannot be, or after the timeout. It must
// neither block nor call the bus.
func (b *Bus) Subscribe(s Subscription, ready func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.start() {
		ready()
		return
	}
	var first *entry
	for _, n := range s.names() {
		if b.names.asked == 0 {
			b.ask(name{text: crowded}, true)
		}
		e, fresh := b.names.use(n)
		if fresh {
			b.ask(n, true)
		}
		if first == nil {
			first = e
		}
	}
	if first.unasked || b.hopeless() {
		ready()
		return
	}
	w := &wait{ready: ready}
	w.timer = time.AfterFunc(b.cfg.Timeout, func() { b.late(first, w) })
	first.waits = append(first.waits, w)
	b.names.confirm(s.names()[0], 0, b.quorum()) // it may be confirmed already
}

// late ends a wait that has lasted for the timeout.
func (b *Bus) late(e *entry, w *wait) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := slices.Index(e.waits, w); at >= 0 {
		e.waits = slices.Delete(e.waits, at, at+1)
		w.ready()
	}
}

// Unsubscribe takes one Subscribe back.
func (b *Bus) Unsubscribe(s Subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range s.names() {
		b.names.leave(n, b.now())
	}
}

// ask sends a subscription, or its end, to all masters. The caller must hold mu.
func (b *Bus) ask(n name, subscribe bool) {
	for _, p := range b.peers {
		p.ask(n, subscribe)
	}
}

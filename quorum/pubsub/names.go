package pubsub

import (
	"math/bits"
	"time"
)

// Bounds on what the masters are asked to subscribe to. A name beyond them is served as
// if no master could be asked: with what is published at this redlockd.
const (
	maxNames     = 1 << 16
	maxNameBytes = 8 << 20
	// maxPatterns is small, because a master compares each message with each pattern. It
	// concerns plain ones.
	maxPatterns = 128
	// linger is how long a name stays subscribed to after its last use: whoever waits for
	// a lock comes back soon.
	linger = 10 * time.Second
)

// Subscription is a name that somebody here wants to hear.
type Subscription struct {
	Name string
	// Pattern reports whether the name is a pattern. Then messages of all channels are
	// heard, whether they fit it or not: a user with the right to the channels redlockd:*
	// may subscribe to this very pattern, and to no narrower one.
	Pattern bool
	// Plain reports whether to hear also what clients of the required master publish there
	// under this name.
	Plain bool
}

// name is a subscription as a master has it. plain reports whether only the required
// master does.
type name struct {
	text           string
	pattern, plain bool
}

// names returns the names of a subscription, the one that is to be confirmed first.
func (s Subscription) names() []name {
	list := []name{{text: wire(s.Name)}}
	if s.Pattern {
		list[0] = name{text: wire("*"), pattern: true}
	}
	if s.Plain {
		list = append(list, name{s.Name, s.Pattern, true})
	}
	return list
}

// entry is what is known of a name.
type entry struct {
	users int
	// idle is since when there is no user.
	idle time.Duration
	// unasked reports whether the name is beyond the bounds.
	unasked bool
	// confirmed has the bits of the peers that have confirmed it.
	confirmed uint64
	waits     []*wait
}

// wait is one call of Subscribe whose name is not confirmed yet.
type wait struct {
	ready func()
	timer *time.Timer
}

// nameTable has all names. The bus's mutex guards it.
type nameTable struct {
	all map[name]*entry
	// asked, bytes and patterns count the names that the masters are asked for; idle are
	// those without a user.
	asked, bytes, patterns int
	idle                   map[name]*entry
}

// use returns the entry of a name that gets one more user. fresh reports whether the masters
// are to be asked for it.
func (t *nameTable) use(n name) (e *entry, fresh bool) {
	if e = t.all[n]; e == nil {
		pattern := 0
		if n.pattern {
			pattern = 1
		}
		e = &entry{unasked: t.asked >= maxNames || t.bytes+len(n.text) > maxNameBytes || t.patterns+pattern > maxPatterns}
		t.all[n] = e
		if fresh = !e.unasked; fresh {
			t.count(n, 1)
		}
	}
	e.users++
	delete(t.idle, n)
	return e, fresh
}

// leave takes a user away.
func (t *nameTable) leave(n name, now time.Duration) {
	e := t.all[n]
	if e == nil || e.users == 0 {
		return
	}
	if e.users--; e.users > 0 {
		return
	}
	if e.unasked {
		delete(t.all, n)
		return
	}
	e.idle, t.idle[n] = now, e
}

// sweep forgets, and returns, the names that had no user for long enough.
func (t *nameTable) sweep(now time.Duration) (gone []name) {
	for n, e := range t.idle {
		if now-e.idle >= linger {
			gone = append(gone, n)
			delete(t.idle, n)
			delete(t.all, n)
			t.count(n, -1)
		}
	}
	return gone
}

func (t *nameTable) count(n name, by int) {
	t.asked += by
	t.bytes += by * len(n.text)
	if n.pattern {
		t.patterns += by
	}
}

// confirm notes that a peer has confirmed a name, and tells those that wait for it if that
// makes enough.
func (t *nameTable) confirm(n name, peer uint64, enough int) {
	e := t.all[n]
	if e == nil {
		return
	}
	e.confirmed |= peer
	if bits.OnesCount64(e.confirmed) >= enough {
		e.tell()
	}
}

// lose takes back what a peer has confirmed.
func (t *nameTable) lose(peer uint64) {
	for _, e := range t.all {
		e.confirmed &^= peer
	}
}

// tell ends all waits.
func (e *entry) tell() {
	for _, w := range e.waits {
		w.timer.Stop()
		w.ready()
	}
	e.waits = nil
}

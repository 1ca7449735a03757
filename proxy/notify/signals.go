package notify

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redlockd/redlockd/commands"
)

// maxSignals bounds the filled lists, and the lists whose lock is known; maxSignalTTL is
// the longest that a filled list is kept.
const (
	maxSignals   = 10000
	maxSignalTTL = 10 * time.Minute
)

// Signal names a list of a database.
type Signal struct {
	DB  int
	Key string
}

// Signals are the lists that a release fills to wake the clients that wait for the lock
// (BLPOP), as far as both go through this redlockd. They are on no master. Safe for
// concurrent use.
type Signals struct {
	mu    sync.Mutex
	lists map[Signal]filled
	// waiting has the waiters for each list, in order of arrival.
	waiting map[Signal][]*Waiter
	// locks has the lock whose release fills a list, as seen in scripts.
	locks map[Signal]string
	swept time.Time
}

// filled is a list whose items have not been popped yet.
type filled struct {
	items   []string
	expires time.Time
}

// NewSignals returns Signals without lists and waiters.
func NewSignals() *Signals {
	return &Signals{lists: make(map[Signal]filled), waiting: make(map[Signal][]*Waiter), locks: make(map[Signal]string)}
}

// Fill replaces what a list holds: the items go to the waiters, longest waiting first,
// and the rest is kept for the notice's TTL.
func (g *Signals) Fill(n commands.Notice, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := Signal{n.DB, n.Signal}
	if len(g.locks) >= maxSignals {
		clear(g.locks) // the next scripts show them again
	}
	if n.Lock != "" {
		g.locks[at] = n.Lock
	}
	delete(g.lists, at)
	g.makeRoomLocked(now)
	if len(g.lists) < maxSignals && len(n.Items) > 0 {
		g.lists[at] = filled{slices.Clone(n.Items), now.Add(min(n.TTL, maxSignalTTL))}
	}
	g.serveLocked(at, now)
}

// serveLocked gives the items of a list to its waiters.
func (g *Signals) serveLocked(at Signal, now time.Time) {
	for len(g.waiting[at]) > 0 {
		w := g.waiting[at][0]
		item, ok := g.popLocked(at, w.right, now)
		if !ok {
			return
		}
		g.forgetLocked(w)
		w.Popped <- Popped{at, item}
	}
}

// popLocked takes an item from one end of a list.
func (g *Signals) popLocked(at Signal, right bool, now time.Time) (item string, ok bool) {
	list, ok := g.lists[at]
	if !ok || now.After(list.expires) {
		delete(g.lists, at)
		return "", false
	}
	if right {
		item, list.items = list.items[len(list.items)-1], list.items[:len(list.items)-1]
	} else {
		item, list.items = list.items[0], list.items[1:]
	}
	g.lists[at] = list
	if len(list.items) == 0 {
		delete(g.lists, at)
	}
	return item, true
}

// PopNow pops from the first of the waiter's lists that holds something.
func (g *Signals) PopNow(w *Waiter, now time.Time) (Popped, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.popFirstLocked(w, now)
}

func (g *Signals) popFirstLocked(w *Waiter, now time.Time) (Popped, bool) {
	for _, at := range w.Wants {
		if item, ok := g.popLocked(at, w.right, now); ok {
			return Popped{at, item}, true
		}
	}
	return Popped{}, false
}

// Wait pops like PopNow, and adds w to the waiters if there is nothing.
func (g *Signals) Wait(w *Waiter, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p, ok := g.popFirstLocked(w, now); ok {
		w.Popped <- p
		return
	}
	for _, at := range w.Wants {
		if !slices.Contains(g.waiting[at], w) {
			g.waiting[at] = append(g.waiting[at], w)
		}
	}
}

// Cancel ends the waiting. It returns what was popped before, if anything was.
func (g *Signals) Cancel(w *Waiter) (Popped, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forgetLocked(w)
	select {
	case p := <-w.Popped:
		return p, true
	default:
		return Popped{}, false
	}
}

// GiveBack puts back what was popped for a client that has gone, so that the next waiter
// gets it.
func (g *Signals) GiveBack(p Popped, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list, ok := g.lists[p.From]
	if !ok {
		list.expires = now.Add(time.Second)
	}
	list.items = append([]string{p.Item}, list.items...)
	g.lists[p.From] = list
	g.serveLocked(p.From, now)
}

// forgetLocked removes w from the waiters.
func (g *Signals) forgetLocked(w *Waiter) {
	for _, at := range w.Wants {
		list := slices.DeleteFunc(g.waiting[at], func(other *Waiter) bool { return other == w })
		g.waiting[at] = list
		if len(list) == 0 {
			delete(g.waiting, at)
		}
	}
}

// makeRoomLocked drops expired lists when there are too many, at most once a second.
func (g *Signals) makeRoomLocked(now time.Time) {
	if len(g.lists) < maxSignals || now.Before(g.swept.Add(time.Second)) {
		return
	}
	g.swept = now
	for at, list := range g.lists {
		if now.After(list.expires) {
			delete(g.lists, at)
		}
	}
}

// named are the prefixes by which libraries name a list and its lock: python-redis-lock and
// walrus.
var named = []struct{ list, lock string }{{"lock-signal:", "lock:"}, {"lock.event:", "lock:"}}

// Lock returns the lock whose release fills a list: as seen in a script, or by the names
// that libraries give them. It returns false where neither applies.
func (g *Signals) Lock(at Signal) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lockLocked(at)
}

func (g *Signals) lockLocked(at Signal) (string, bool) {
	if lock, ok := g.locks[at]; ok {
		return lock, true
	}
	for _, n := range named {
		if name, ok := strings.CutPrefix(at.Key, n.list); ok && name != "" {
			return n.lock + name, true
		}
	}
	return "", false
}

// Drop deletes a list.
func (g *Signals) Drop(at Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.lists, at)
}

// Peek returns how many items a list holds and how long they are kept.
func (g *Signals) Peek(at Signal, now time.Time) (items int, left time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list, ok := g.lists[at]
	if !ok || !now.Before(list.expires) {
		return 0, 0
	}
	return len(list.items), list.expires.Sub(now)
}

// Blocked returns the number of waiters.
func (g *Signals) Blocked() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	sessions := make(map[*Waiter]bool)
	for _, list := range g.waiting {
		for _, w := range list {
			sessions[w] = true
		}
	}
	return len(sessions)
}

// Waiting returns the number of waiters for a list.
func (g *Signals) Waiting(at Signal) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting[at])
}

package notify

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/redlockd/redlockd/commands"
)

// Bounds of all lists together; package script bounds the items of one. Beyond them the
// list that was filled or looked for longest ago is forgotten, so that no client can keep
// the signals of others from being kept.
const (
	maxSignals     = 10000
	maxSignalBytes = 8 << 20
	maxSignalTTL   = 10 * time.Minute
	// listBytes and itemBytes are about what a list and an item take beside their texts.
	listBytes, itemBytes = 256, 16
)

// Signal names a list of a database.
type Signal struct {
	DB  int
	Key string
}

// Signals are the lists that a release at this redlockd fills to wake the clients that wait
// for the lock (BLPOP). They are on no master. Safe for concurrent use.
type Signals struct {
	mu    sync.Mutex
	lists *simplelru.LRU[Signal, *list]
	bytes int // of all lists
	// waiting has the waiters for each list, in order of arrival.
	waiting map[Signal][]*Waiter
}

// list is what is known of a signal list.
type list struct {
	items   []string // that have not been popped
	expires time.Time
	// lock is the lock whose release fills the list, as seen in scripts; it is remembered
	// when the items have gone. Empty if it is not known.
	lock string
}

// size returns about how many bytes the list takes.
func (l *list) size(at Signal) int {
	n := listBytes + len(at.Key) + len(l.lock)
	for _, item := range l.items {
		n += itemBytes + len(item)
	}
	return n
}

// NewSignals returns Signals without lists and waiters.
func NewSignals() *Signals {
	g := &Signals{waiting: make(map[Signal][]*Waiter)}
	g.lists, _ = simplelru.NewLRU(maxSignals, func(at Signal, l *list) { g.bytes -= l.size(at) })
	return g
}

// Fill replaces what a list holds: the items go to the waiters, longest waiting first,
// and the rest is kept for the notice's TTL.
func (g *Signals) Fill(n commands.Notice, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	// The texts are copied: a script may have cut them out of longer ones.
	at := Signal{n.DB, strings.Clone(n.Signal)}
	l := &list{expires: now.Add(min(n.TTL, maxSignalTTL)), lock: strings.Clone(n.Lock)}
	if old, ok := g.lists.Peek(at); ok && l.lock == "" {
		l.lock = old.lock
	}
	for _, item := range n.Items {
		l.items = append(l.items, strings.Clone(item))
	}
	g.putLocked(at, l, now)
}

// Wake gives the items of a list that was filled at another redlockd to those that wait for
// it here, longest waiting first. Nothing is kept but the lock, if that is known: who comes
// later looks at it.
func (g *Signals) Wake(at Signal, lock string, items []string, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting[at]) == 0 {
		return
	}
	l := &list{items: items, expires: now.Add(time.Second), lock: lock}
	if old, ok := g.lists.Peek(at); ok && lock == "" {
		l.lock = old.lock
	}
	g.putLocked(at, l, now)
	if l, ok := g.lists.Peek(at); ok {
		g.setLocked(at, l, nil)
	}
}

// putLocked replaces a list, gives its items to its waiters, and only then makes room for
// the rest: waiters are woken whatever can be kept.
func (g *Signals) putLocked(at Signal, l *list, now time.Time) {
	g.lists.Remove(at)
	g.bytes += l.size(at)
	g.lists.Add(at, l)
	g.setLocked(at, l, l.items)
	g.serveLocked(at, now)
	for g.bytes > maxSignalBytes {
		g.lists.RemoveOldest()
	}
}

// setLocked replaces the items of a list, and forgets one of which nothing is known then.
func (g *Signals) setLocked(at Signal, l *list, items []string) {
	g.bytes -= l.size(at)
	l.items = items
	g.bytes += l.size(at)
	if len(items) == 0 && l.lock == "" {
		g.lists.Remove(at)
	}
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

// filledLocked returns what is known of a list, or nil; ok reports whether it holds items.
func (g *Signals) filledLocked(at Signal, now time.Time) (l *list, ok bool) {
	l, ok = g.lists.Peek(at)
	if ok && !now.Before(l.expires) {
		g.setLocked(at, l, nil)
	}
	return l, ok && len(l.items) > 0
}

// popLocked takes an item from one end of a list.
func (g *Signals) popLocked(at Signal, right bool, now time.Time) (item string, ok bool) {
	l, ok := g.filledLocked(at, now)
	if !ok {
		return "", false
	}
	i := 0
	if right {
		i = len(l.items) - 1
	}
	item = l.items[i]
	g.setLocked(at, l, slices.Concat(l.items[:i], l.items[i+1:]))
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

// GiveBack puts back what was popped for a client that has gone, so that the next waiter
// gets it.
func (g *Signals) GiveBack(p Popped, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var back list
	if l, _ := g.filledLocked(p.From, now); l != nil {
		back = *l
	}
	if len(back.items) == 0 {
		back.expires = now.Add(time.Second)
	}
	back.items = append([]string{p.Item}, back.items...)
	g.putLocked(p.From, &back, now)
}

// Drop deletes a list.
func (g *Signals) Drop(at Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l, ok := g.lists.Peek(at); ok {
		g.setLocked(at, l, nil)
	}
}

// Peek returns how many items a list holds and how long they are kept.
func (g *Signals) Peek(at Signal, now time.Time) (items int, left time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l, ok := g.filledLocked(at, now)
	if !ok {
		return 0, 0
	}
	return len(l.items), l.expires.Sub(now)
}

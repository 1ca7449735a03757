package notify

import (
	"slices"
	"strings"
	"time"
)

// Waiter is one session that waits in BLPOP or BRPOP.
type Waiter struct {
	Wants []Signal
	right bool // pops from the right (BRPOP)
	// session is the number of the one that waits.
	session int64
	// Popped receives what was popped for the waiter, once. It has room for one item.
	Popped chan Popped
}

// Popped is an item of a list.
type Popped struct {
	From Signal
	Item string
}

// NewWaiter returns a waiter for the lists of these names in a database; earlier names
// take precedence. With right it pops from the right (BRPOP). session is who waits.
func NewWaiter(session int64, db int, names [][]byte, right bool) *Waiter {
	w := &Waiter{right: right, session: session, Popped: make(chan Popped, 1)}
	for _, name := range names {
		w.Wants = append(w.Wants, Signal{db, string(name)})
	}
	return w
}

// WaitersFor returns the sessions that wait for a signal that a lock is free.
func (g *Signals) WaitersFor(db int, lock string) []int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	var sessions []int64
	for at, waiters := range g.waiting {
		if of, ok := g.lockLocked(at); !ok || at.DB != db || of != lock {
			continue
		}
		for _, w := range waiters {
			sessions = append(sessions, w.session)
		}
	}
	return sessions
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

// named are the prefixes by which libraries name a list and its lock: python-redis-lock and
// walrus.
var named = []struct{ list, lock string }{{"lock-signal:", "lock:"}, {"lock.event:", "lock:"}}

// Lock returns the lock whose release fills a list: as seen in a script, or by the names
// that libraries give them. It returns false where neither applies.
func (g *Signals) Lock(at Signal) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lists.Get(at) // it is of use, so others are forgotten before it
	return g.lockLocked(at)
}

func (g *Signals) lockLocked(at Signal) (string, bool) {
	if l, ok := g.lists.Peek(at); ok && l.lock != "" {
		return l.lock, true
	}
	for _, n := range named {
		if name, ok := strings.CutPrefix(at.Key, n.list); ok && name != "" {
			return n.lock + name, true
		}
	}
	return "", false
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

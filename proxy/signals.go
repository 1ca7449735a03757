package proxy

import (
	"slices"
	"sync"
	"time"

	"github.com/redlockd/redlockd/commands"
)

// signal names a list in a database.
type signal struct {
	db  int
	key string
}

// signals are the lists that a release fills to wake those who wait for the
// lock (BLPOP), as far as they pass through this redlockd. No master has them.
// Safe for concurrent use.
type signals struct {
	mu    sync.Mutex
	lists map[signal]filled
	// waiting are those that wait for a list, in order of arrival.
	waiting map[signal][]*waiter
	// locks are the locks that the lists were seen to tell of.
	locks map[signal]string
	swept time.Time
}

// filled is a list that nobody has waited for yet.
type filled struct {
	items   []string
	expires time.Time
}

// waiter is one blocked session.
type waiter struct {
	wants []signal
	right bool // BRPOP
	// popped gets what was popped for it, once. It has room for that.
	popped chan popped
}

type popped struct {
	from signal
	item string
}

func (g *signals) init() {
	g.lists = make(map[signal]filled)
	g.waiting = make(map[signal][]*waiter)
	g.locks = make(map[signal]string)
}

// fill gives the items to those who wait, the longest waiting first, and
// keeps the others for a time.
func (g *signals) fill(n commands.Notice, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := signal{n.DB, n.Signal}
	if len(g.locks) >= maxSignals {
		clear(g.locks) // they are learned again
	}
	if n.Lock != "" {
		g.locks[at] = n.Lock
	}
	delete(g.lists, at)
	g.makeRoom(now)
	if len(g.lists) < maxSignals && len(n.Items) > 0 {
		g.lists[at] = filled{slices.Clone(n.Items), now.Add(min(n.TTL, maxSignalTTL))}
	}
	g.serve(at, now)
}

// serve hands out what a list holds. Needs mu.
func (g *signals) serve(at signal, now time.Time) {
	for len(g.waiting[at]) > 0 {
		w := g.waiting[at][0]
		item, ok := g.pop(at, w.right, now)
		if !ok {
			return
		}
		g.forget(w)
		w.popped <- popped{at, item}
	}
}

// pop needs mu.
func (g *signals) pop(at signal, right bool, now time.Time) (item string, ok bool) {
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

// popNow pops from the first of the lists that holds something.
func (g *signals) popNow(w *waiter, now time.Time) (popped, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.popFirst(w, now)
}

func (g *signals) popFirst(w *waiter, now time.Time) (popped, bool) {
	for _, at := range w.wants {
		if item, ok := g.pop(at, w.right, now); ok {
			return popped{at, item}, true
		}
	}
	return popped{}, false
}

// wait is popNow, and enters w as waiting if there is nothing.
func (g *signals) wait(w *waiter, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p, ok := g.popFirst(w, now); ok {
		w.popped <- p
		return
	}
	for _, at := range w.wants {
		if !slices.Contains(g.waiting[at], w) {
			g.waiting[at] = append(g.waiting[at], w)
		}
	}
}

// cancel ends the waiting; it is true when something was popped before.
func (g *signals) cancel(w *waiter) (popped, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(w)
	select {
	case p := <-w.popped:
		return p, true
	default:
		return popped{}, false
	}
}

// giveBack is for what was popped for a client that has gone: the next one is
// woken instead.
func (g *signals) giveBack(p popped, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list, ok := g.lists[p.from]
	if !ok {
		list.expires = now.Add(time.Second)
	}
	list.items = append([]string{p.item}, list.items...)
	g.lists[p.from] = list
	g.serve(p.from, now)
}

// forget needs mu.
func (g *signals) forget(w *waiter) {
	for _, at := range w.wants {
		list := slices.DeleteFunc(g.waiting[at], func(other *waiter) bool { return other == w })
		g.waiting[at] = list
		if len(list) == 0 {
			delete(g.waiting, at)
		}
	}
}

// makeRoom drops what is over when there is much, but not at every turn.
// Needs mu.
func (g *signals) makeRoom(now time.Time) {
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

// lock is the lock that a list tells of: as seen in a script, or by the names
// that python-redis-lock gives. It is false where neither says so.
func (g *signals) lock(at signal) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if lock, ok := g.locks[at]; ok {
		return lock, true
	}
	const prefix = "lock-signal:"
	if len(at.key) > len(prefix) && at.key[:len(prefix)] == prefix {
		return "lock:" + at.key[len(prefix):], true
	}
	return "", false
}

// notify tells those who wait what a script or a transaction has to say, once
// it was carried out.
func (s *Server) notify(list []commands.Notice) {
	for _, n := range list {
		if n.Signal != "" && len(n.Signal) > s.cfg().MaxKeyBytes {
			continue // a script has made it; nobody can wait for it
		}
		if n.Signal != "" {
			s.signals.fill(n, time.Now())
			continue
		}
		s.hub.publish(n.Sharded, n.Channel, n.Message)
	}
}

package notify

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

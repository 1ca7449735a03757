package notify

// Waiter is one blocked session.
type Waiter struct {
	Wants []Signal
	right bool // BRPOP
	// Popped gets what was popped for it, once. It has room for that.
	Popped chan Popped
}

// Popped is an item of a list.
type Popped struct {
	From Signal
	Item string
}

// NewWaiter returns one who waits for the lists of these names in a database, the
// first first. With right it pops from the right (BRPOP).
func NewWaiter(db int, names [][]byte, right bool) *Waiter {
	w := &Waiter{right: right, Popped: make(chan Popped, 1)}
	for _, name := range names {
		w.Wants = append(w.Wants, Signal{db, string(name)})
	}
	return w
}

package notify

// Waiter is one session that waits in BLPOP or BRPOP.
type Waiter struct {
	Wants []Signal
	right bool // pops from the right (BRPOP)
	// Popped receives what was popped for the waiter, once. It has room for one item.
	Popped chan Popped
}

// Popped is an item of a list.
type Popped struct {
	From Signal
	Item string
}

// NewWaiter returns a waiter for the lists of these names in a database; earlier names
// take precedence. With right it pops from the right (BRPOP).
func NewWaiter(db int, names [][]byte, right bool) *Waiter {
	w := &Waiter{right: right, Popped: make(chan Popped, 1)}
	for _, name := range names {
		w.Wants = append(w.Wants, Signal{db, string(name)})
	}
	return w
}

package quorum

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/tail"
)

// Watch reports whether a key was changed through this redlockd since the read that
// armed it (Op.Arm). The zero value is ready.
type Watch struct {
	changed atomic.Bool

	mu     sync.Mutex
	table  *watchTable
	key    string
	closed bool
	// locks are those that the read has found (State.locks), if armed is set. What another instance
	// does to the key shows in them, also where the token has come back.
	locks string
	armed bool
}

// Changed reports whether the key was changed since. Safe for concurrent use.
func (w *Watch) Changed() bool { return w.changed.Load() }

// saw notes what a read has found. The first one arms the watch; another lock that a later one finds
// has come since.
func (w *Watch) saw(s *State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.armed:
		w.locks, w.armed = s.locks, true
	case s.Found && countLocks(s.locks, w.locks) < s.lacks:
		w.changed.Store(true)
	}
}

// seen returns the locks of key that the watch remembers; empty if there were none.
func (w *Watch) seen(key string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.key != key {
		return ""
	}
	return w.locks
}

// Fits reports whether what a read finds now may still be the lock that was seen: so many
// copies have one of its locks that a quorum may. A key that had no lock fits any state.
func (w *Watch) Fits(s State) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.locks == "" || !s.Found {
		return true
	}
	return countLocks(s.locks, w.locks) >= s.lacks
}

// countLocks returns how many of the locks are among others.
func countLocks(locks, others string) (n int) {
	size := len(tail.ID(0).String())
	all := slices.Collect(slices.Chunk([]byte(others), size))
	for lock := range slices.Chunk([]byte(locks), size) {
		if slices.ContainsFunc(all, func(other []byte) bool { return bytes.Equal(lock, other) }) {
			n++
		}
	}
	return n
}

// sees passes what a read has found on to the watch that it arms.
func (op *Op) sees(o *Outcome) {
	if op.Arm != nil && o.Err == nil {
		op.Arm.saw(&o.State)
	}
}

// seenLocks returns the locks of a key that the operation may meet (Unless); empty for any.
func (op *Op) seenLocks(key string) string {
	for _, w := range op.Unless {
		if locks := w.seen(key); locks != "" {
			return locks
		}
	}
	return ""
}

// Close ends the watching. It may be called more than once, and if the watch was never
// armed.
func (w *Watch) Close() {
	w.mu.Lock()
	table := w.table
	w.table, w.closed = nil, true
	w.mu.Unlock()
	if table != nil {
		table.remove(w)
	}
}

// watchTable has the armed watches of one database.
type watchTable struct {
	mu  sync.Mutex
	any atomic.Int64
	on  map[string]map[*Watch]struct{}
}

func (t *watchTable) arm(w *Watch, key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.table != nil {
		return
	}
	w.table, w.key = t, key
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.on[key] == nil {
		t.on[key] = map[*Watch]struct{}{}
	}
	t.on[key][w] = struct{}{}
	t.any.Add(1)
}

func (t *watchTable) remove(w *Watch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.on[w.key], w)
	if len(t.on[w.key]) == 0 {
		delete(t.on, w.key)
	}
	t.any.Add(-1)
}

// touch marks the watches on a key.
func (t *watchTable) touch(key string) {
	if t.any.Load() == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for w := range t.on[key] {
		w.changed.Store(true)
	}
}

func (c *call) arm() {
	if c.op.Arm != nil {
		c.db.watch.arm(c.op.Arm, c.op.Key)
	}
}

// touch marks the watches on the key of the call, or on those of its keys that the outcome
// says were changed: what was only read is as it was (S4).
func (c *call) touch(o *Outcome) {
	if c.op.Kind != DecideAll && !o.Did.spares(c.op.Key) {
		c.db.watch.touch(c.op.Key)
	}
	for _, change := range o.Changes {
		if !o.Did.spares(change.Key) {
			c.db.watch.touch(change.Key)
		}
	}
}

// spares reports whether the operation leaves the token and the TTL of a key as they were.
func (op *Op) spares(key string) bool {
	return op != nil && slices.ContainsFunc(op.effects, func(e outbox.Effect) bool { return e.Key == key && e.Does == outbox.Keeps && !e.Changes() })
}

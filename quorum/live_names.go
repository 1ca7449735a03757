package quorum

import "time"

// A lock whose client was answered is not rolled back any more. But a later attempt
// with the same token may be, and if its answer is unknown, its rollback deletes any
// copy that bears its name. So the names of granted locks are kept, and given to no
// other attempt, until the locks are over or released (V6).

// liveNames are the expiries that name one granted lock; until is when it is over at
// the latest.
type liveNames struct {
	until    time.Duration
	expiries expiries
}

// liveTable has the liveNames of a shard's locks, by the hash of key and token. The
// caller must hold the shard's mu.
type liveTable struct {
	of   map[uint64]liveNames
	left int // how many were left at the last removal of those that are over
}

// keep keeps the names of one lock; now is the time.
func (t *liveTable) keep(lock uint64, names liveNames, now time.Duration) {
	t.of[lock] = names
	if len(t.of) < 2*t.left+64 {
		return
	}
	for lock, old := range t.of {
		if old.until < now {
			delete(t.of, lock)
		}
	}
	t.left = len(t.of)
}

package quorum

import "time"

// A lock that its client was told of is not rolled back any more. But a later
// attempt with the same token may be, and where that one's answer is not known
// its rollback deletes whatever bears its name. So the names of such locks are
// kept, and given to no other attempt, until they are over or released (V6).

// liveNames are the expiries of one lock that was told.
type liveNames struct {
	until    time.Duration
	expiries expiries
}

// liveTable are those of the locks of one shard, by their keys and tokens. It needs
// the shard's mutex.
type liveTable struct {
	of   map[uint64]liveNames
	left int // how many there were when those that are over were forgotten last
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

package quorum

import (
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// The masters keep a lock longer than its TTL (V3). What a client is told goes by
// the TTL it asked for: after that its lock is over in every answer, and a
// release or an extend deletes what is left (V15). This redlockd knows to the moment
// when that is for what it has told itself, by the expiries that it has given; of other
// copies what they have left tells it.

// term is what was told last of a key, and until when its client may count on it.
type term struct {
	token string
	// ends is when the TTL is over, in nanoseconds, that began when the client was
	// told; while that is not known, when it ends at the latest.
	ends atomic.Int64
	ttl  time.Duration
	// gone is when nothing of it can be left.
	gone time.Duration
	// masters are those that the expiries go by. Those are what the masters were
	// given, or have kept, this time: an expiry that was given before may have been
	// made an earlier one since, and another redlockd's extend lie in between.
	masters  *cluster.List
	expiries expiries
}

// over reports whether its TTL is over at a time.
func (t *term) over(at time.Duration) bool { return time.Duration(t.ends.Load()) <= at }

// knows reports whether it was told on this list of masters.
func (t *term) knows(masters *cluster.List) bool { return t != nil && t.masters == masters }

// expiry is the latest that a master has of it; 0 if none is known.
func (t *term) expiry(masters *cluster.List, i int) int64 {
	if !t.knows(masters) {
		return 0
	}
	return t.expiries.at(i)
}

// terms are those of the keys of one shard, whose mutex they need.
type terms struct {
	of   map[uint64]*term
	left int // how many there were when those that are gone were forgotten last
}

func (t *terms) set(key uint64, next *term, now time.Duration) {
	if t.of == nil {
		t.of = map[uint64]*term{}
	}
	t.of[key] = next
	if len(t.of) < 2*t.left+64 {
		return
	}
	for key, old := range t.of {
		if old.gone < now {
			delete(t.of, key)
		}
	}
	t.left = len(t.of)
}

// forget forgets a term whose lock was released, so that none outlasts its lock by
// long where locks are released as they should be.
func (t *terms) forget(key uint64, token string) {
	if last := t.of[key]; last != nil && last.token == token {
		delete(t.of, key)
	}
}

// lasts is how long the client of a lock that a read found, and that lives, may
// count on it, as this redlockd has told it; false where it has not.
func (t *term) lasts(masters *cluster.List, token string, arrived, now time.Duration) (time.Duration, bool) {
	if !t.knows(masters) || t.token != token || t.over(arrived) {
		return 0, false
	}
	return max(time.Duration(t.ends.Load())-now, time.Millisecond).Truncate(time.Millisecond), true
}

// told ends it by when the client was told.
func (t *term) told(at time.Duration) { t.ends.Store(int64(at + t.ttl)) }

package quorum

import (
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/tail"
)

// The masters keep a lock longer than its TTL (V3). In answers the TTL that the client
// asked for counts: after that its lock is over in every answer, and a release deletes what is
// left; so does an extend, a little later, as its client's clock may be slower (V15). For locks
// that this redlockd has granted it knows that moment exactly, and recognizes their copies by
// their attempt; for other copies it goes by their remaining hold.

// term is the last known grant on a key, and until when its client may count on it.
type term struct {
	token string
	// began is when the attempt that was granted did, at first (grantBegan). A term of an
	// earlier one, whose reply leaves later, does not replace it.
	began time.Duration
	// until is when the TTL is over, in nanoseconds of our clock, counted from when the
	// client was answered; until that has happened, when the TTL is over at the latest.
	until atomic.Int64
	// later is when a later grant of the lock ends at the latest whose reply has not left
	// yet.
	later atomic.Int64
	ttl   time.Duration
	// spared is until when, by the client's clock, a TTL may last that was told before and that
	// this grant was not to shorten.
	spared time.Duration
	// gone is when no copy can be left.
	gone time.Duration
	// masters is the list in whose order ends are. attempt has given the copies, until
	// these ends at the latest (ends.gave).
	masters *cluster.List
	attempt tail.ID
	ends    ends
}

// over reports whether the TTL is over at a time, by our clock.
func (t *term) over(at time.Duration) bool {
	return time.Duration(max(t.until.Load(), t.later.Load())) <= at
}

// mayLast reports whether the client may still count on the lock at a time by its own clock,
// which may be slower than ours.
func (t *term) mayLast(at time.Duration, cfg *Config) bool {
	return !t.over(at-cfg.Drift(t.ttl)) || at < t.spared
}

// after reports whether there is a term of an attempt that began after a.
func (t *term) after(a *attempt) bool { return t != nil && t.began > a.grantBegan() }

// grantBegan returns when the attempt began, or the one whose grant it renews: a renewal is no
// later grant than what was told between the two.
func (a *attempt) grantBegan() time.Duration {
	for a.op.renews != nil {
		a = a.op.renews
	}
	return a.times.began
}

// knows reports whether there is a term, granted on this list of masters.
func (t *term) knows(masters *cluster.List) bool { return t != nil && t.masters == masters }

// isOf reports whether the term is of the lock that an operation is about: of its token, if it has
// to be that.
func (t *term) isOf(op *Op) bool {
	named := op.Kind == Release || op.Kind == Extend || op.Kind == AcquireOrExtend
	return !named || t.token == op.Token
}

// terms has the terms of the keys of one shard. The caller must hold the shard's mu.
type terms struct {
	of   map[uint64]*term
	left int // how many were left at the last removal of those that are gone
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

// forget removes the term of a released lock, so that terms hardly outlast locks that
// are released properly.
func (t *terms) forget(key uint64, token string) {
	if last := t.of[key]; last != nil && last.token == token {
		delete(t.of, key)
	}
}

// lasts returns how much longer the client may count on a living lock that a read
// found, by its term; less than nothing while a later grant of it is being told. It is false
// if no term of that lock is known.
func (t *term) lasts(masters *cluster.List, token string, arrived, now time.Duration) (time.Duration, bool) {
	if !t.knows(masters) || t.token != token || t.over(arrived) {
		return 0, false
	}
	return (time.Duration(t.until.Load()) - now).Truncate(time.Millisecond), true
}

// answered sets the end, now that the client was answered at the time at.
func (t *term) answered(at time.Duration) { t.until.Store(int64(at + t.ttl)) }

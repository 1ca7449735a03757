package clock

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Redis expires locks by its wall clock, so a clock that steps ends or
// prolongs all of them (M5). Every look is compared with those of the last
// greatest hold; what does not fit voids the votes at once, and the monitor
// finds out what its cause was.

// never is when a master was looked at that was not.
const never = time.Duration(math.MinInt64 / 2)

// Watch is what is known of one master's clock: what time it may be there (V6),
// and whether it runs evenly (M5). It does not know the master. Safe for concurrent
// use: its mutex is taken in this file only.
type Watch struct {
	now   Clock
	drift float64
	// timeout is that of an attempt: a look that takes longer tells too little.
	timeout time.Duration
	// ours is whether the clock is our own, that of an embedded master.
	ours bool
	// warm is whether the mark was looked at since others must have told of a step
	// that we could not see (warmup.go). It changes under mu.
	warm atomic.Bool

	mu    sync.Mutex
	looks looks
	// offsets are what the clock must fit to, rebase whether the next look
	// begins them anew, and from since when that was asked for: what went out before
	// fits to no baseline.
	offsets offsets
	rebase  bool
	from    time.Duration
	// stepped is when a look did not fit, until it is known why, and jump by how much
	// the last one did not; looked is when the last look came in.
	stepped time.Duration
	jump    Jump
	looked  time.Duration
	// sure is when the newest look went out that tells how the clock stands, based
	// since when the baseline has been good.
	sure   time.Duration
	based  time.Duration
	warmUp warmUp
}

// NewWatch watches a clock that may run faster or slower than ours by drift.
func NewWatch(now Clock, drift float64, timeout time.Duration, ours bool) *Watch {
	w := &Watch{now: now, drift: drift, timeout: timeout, ours: ours, sure: never,
		looks: looks{drift: drift}, offsets: offsets{drift: drift}}
	w.warm.Store(ours)
	return w
}

// Saw takes a look at the clock, in microseconds, and returns whether it fits to
// those of before, which are kept for so long; news is whether the monitor shall look
// into it at once. zero is the watch of the same clock for database 0, nil for that
// itself.
func (w *Watch) Saw(micros int64, sent, received, keep time.Duration, zero *Watch) (fits, news bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sent < w.from {
		return false, false
	}
	w.looked = received
	n := newOffset(micros, sent, received)
	if w.rebase || w.ours {
		w.rebase, w.sure, w.based = false, never, received
		w.offsets.rebase(n)
	}
	news = w.needBaseline(n, zero)
	if !w.offsets.within(n) {
		w.jump = w.offsets.jumped(n)
		if w.stepped == 0 {
			w.stepped, news = received, true
		}
		return false, news
	}
	w.offsets.add(n, keep)
	if received-sent <= w.timeout {
		// A slower one would tell too little about the clock, and who answers
		// so has no vote either.
		w.looks.add((micros+999)/1000, sent, received)
		w.sure = sent
	}
	return true, news
}

// needBaseline takes the vote, until others have told, where there is no baseline
// that the look n can be compared with, and reports whether that is news. Needs mu.
func (w *Watch) needBaseline(n offset, zero *Watch) bool {
	if w.ours || w.watched(n.received-w.sure) || zero != nil && w.takeBaseline(n, zero) {
		return false
	}
	was := w.warm.Load()
	w.warmUp.met, w.based = false, n.received
	w.warm.Store(false)
	return was
}

// takeBaseline takes over what database 0 remembers of the clock, and is whether
// that is a baseline to compare the look n with. Needs mu.
func (w *Watch) takeBaseline(n offset, zero *Watch) bool {
	zero.mu.Lock()
	defer zero.mu.Unlock()
	good := w.watched(n.received-zero.sure) && !zero.rebase
	if good || len(w.offsets.entries) == 0 {
		w.offsets = zero.offsets.clone()
	}
	if good {
		warm := zero.warm.Load()
		w.warmUp.take(zero.warmUp, warm)
		w.warm.Store(w.warm.Load() && warm)
	}
	return good
}

// newBaseline has the next look begin a new baseline. What is under way went out
// before it was known how the clock stands, so it counts for nothing. Needs mu.
func (w *Watch) newBaseline() {
	w.rebase, w.from, w.stepped, w.looks = true, w.now(), 0, looks{drift: w.drift}
}

// BeginAgain begins a new baseline after clocks have jumped by the same time together,
// and reports whether this one has. One that has jumped by another time keeps its own.
func (w *Watch) BeginAgain(by Jump) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	jumped := w.stepped != 0 && w.jump.Same(by)
	if w.stepped == 0 || jumped {
		w.newBaseline()
	}
	return jumped
}

// Judged ends a look: told is whether others had to have told by it, recorded whether
// the mark says now that the clock has stepped, so that a new baseline begins.
func (w *Watch) Judged(told, recorded bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warm.Store(w.warmUp.met && told)
	if recorded {
		w.newBaseline()
	}
}

// Stepped returns when a look did not fit, 0 where all did, and by how much the clock has
// jumped.
func (w *Watch) Stepped() (at time.Duration, by Jump) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stepped, w.jump
}

// LookedAt is when the last look came in.
func (w *Watch) LookedAt() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looked
}

// WatchedSince reports whether the baseline has been good since a time.
func (w *Watch) WatchedSince(since time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.warm.Load() && w.based <= since
}

// Latest is the latest possible reading of the clock now, in milliseconds, and
// whether there was a look in the last two seconds (V6).
func (w *Watch) Latest(now time.Duration) (int64, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks.latest(now)
}

// Earliest is the earliest possible reading of the clock at a time, now or later,
// likewise.
func (w *Watch) Earliest(at time.Duration) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks.earliest(at)
}

// Newest is an estimate of the clock now, not a bound.
func (w *Watch) Newest() (int64, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks.newest(w.now())
}

// Warm reports whether the clock has been watched for long enough, by others where
// not by us.
func (w *Watch) Warm() bool { return w.warm.Load() }

// Asks reports whether others are to be looked for who could have seen a step that our
// own baseline does not show.
func (w *Watch) Asks() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.warmUp.met && w.watched(w.now()-w.sure)
}

// HasOthers reports whether there were any.
func (w *Watch) HasOthers() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.warmUp.others
}

// Meet notes, by a look that went out at sent, whether there are others, and that
// somebody may tell within so long, 0 for nobody.
func (w *Watch) Meet(others bool, sent, within time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warmUp = warmUp{met: true, others: others, by: sent}
	if within > 0 {
		w.warmUp.by = w.now() + within
	}
}

// WarmingUp is how much longer others may take to tell, by a look at the mark that
// went out at sent; 0 where they had to have told before it. whole is how long they
// may take at most, told whether the mark is one that they would tell in.
func (w *Watch) WarmingUp(sent, whole time.Duration, told bool) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.warm.Load() {
		return 0
	}
	return w.warmUp.left(sent, w.now(), whole, told)
}

// LookAgain is when the monitor looks again, if nothing wakes it before.
func (w *Watch) LookAgain() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.warm.Load() {
		return LookEvery
	}
	return min(LookEvery, max(LookEvery/10, w.warmUp.by-w.now()))
}

// watched is for this clock.
func (w *Watch) watched(ago time.Duration) bool { return Watched(ago, w.drift, w.timeout) }

package clock

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Redis expires locks by its wall clock, so a clock that steps ends or prolongs all of
// them (M5). Every look is compared with those of at least the last greatest hold. A look that
// does not fit voids the votes at once, and the monitor finds the cause.

// never stands for the time of a look that never happened.
const never = time.Duration(math.MinInt64 / 2)

// Watch is what is known of one master's clock: what time it may show (V6), and whether
// it runs evenly (M5). It does not know the master. Safe for concurrent use: its mutex is
// taken in this file and in warmup.go only.
type Watch struct {
	now   Clock
	drift float64
	// exact returns the longest time that a look may take: one that takes longer tells too
	// little.
	exact func() time.Duration
	// ours is whether the clock is our own, because the master is embedded.
	ours bool
	// warm is whether the mark was looked at after other redlockd must have recorded a
	// step that we could not see (warmup.go). It changes under mu.
	warm atomic.Bool

	mu sync.Mutex
	// recent are the looks of the last two seconds, baseline is what the clock must fit.
	// rebase is whether the next look begins a new one, from when that was requested: a look
	// sent then or earlier fits no baseline.
	recent, baseline bounds
	rebase           bool
	from             time.Duration
	// stepped is when a look did not fit, until the cause is known; 0 if all fitted. jump
	// is by how much the last one did not. looked is when the last look came in.
	stepped time.Duration
	jump    Jump
	looked  time.Duration
	// sure is when the newest look that is exact enough went out, based since when the
	// baseline has been good.
	sure  time.Duration
	based time.Duration
	// waits is since when others are waited for, by until when they must have recorded a step; 0
	// if that was not worked out since (warmup.go).
	waits, by time.Duration
}

// NewWatch watches a clock that may run faster or slower than ours by drift. exact returns
// the longest time that a look may take.
func NewWatch(now Clock, drift float64, exact func() time.Duration, ours bool) *Watch {
	w := &Watch{now: now, drift: drift, exact: exact, ours: ours, sure: never, from: never,
		recent: bounds{drift: drift}, baseline: bounds{drift: drift}}
	w.warm.Store(ours)
	return w
}

// Saw takes a reading of the clock, in microseconds, and returns whether it fits the
// earlier ones, which are kept for keep. news reports whether the monitor should look into
// it at once.
func (w *Watch) Saw(micros int64, sent, received, keep time.Duration) (fits, news bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sent <= w.from {
		return false, false
	}
	w.looked = received
	n := reading{ms: float64(micros) / 1000, sent: sent, received: received}
	if w.rebase || w.ours {
		w.rebase, w.sure, w.based = false, never, received
		w.baseline = bounds{drift: w.drift}
		w.baseline.add(n, keep)
	}
	news = w.needBaseline(n)
	if !w.baseline.allow(n) {
		w.jump = w.baseline.jumped(n)
		if w.stepped == 0 {
			w.stepped, news = received, true
		}
		return false, news
	}
	w.baseline.add(n, keep)
	if received-sent <= w.exact() {
		// A slower look tells too little, and so slow a master has no vote anyway.
		w.recent.add(n, LookAge/2)
		w.sure = sent
	}
	return true, news
}

// needBaseline takes the vote away until others must have recorded a step, if there is no
// baseline to compare the look n with. It reports whether the master had the vote until
// now. The caller must hold mu.
func (w *Watch) needBaseline(n reading) bool {
	if w.ours || Watched(n.received-w.sure, w.drift, w.exact()) {
		return false
	}
	was := w.warm.Load()
	w.waits, w.by, w.based = n.received, 0, n.received
	w.warm.Store(false)
	return was
}

// newBaseline makes the next look begin a new baseline. A look that is under way went out
// before the clock was known to be steady, so it does not count. The caller must hold mu.
func (w *Watch) newBaseline() {
	w.rebase, w.from, w.stepped, w.recent = true, w.now(), 0, bounds{drift: w.drift}
}

// Forget ends the baseline: it is of another clock.
func (w *Watch) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.newBaseline()
	w.sure, w.waits, w.by = never, w.now(), 0
	w.warm.Store(w.ours)
}

// BeginAgain begins a new baseline after several clocks have jumped by the same time, and
// reports whether this clock is one of them. A clock that jumped by another time keeps
// its baseline.
func (w *Watch) BeginAgain(by Jump) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	jumped := w.stepped != 0 && w.jump.Same(by)
	if w.stepped == 0 || jumped {
		w.newBaseline()
	}
	return jumped
}

// Judged ends a look. recordedInTime reports whether others must have recorded a step
// before it, stepRecorded whether the mark now records that the clock stepped, so that a
// new baseline begins.
func (w *Watch) Judged(recordedInTime, stepRecorded bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warm.Store(w.by > 0 && recordedInTime)
	if stepRecorded {
		w.newBaseline()
	}
}

// Stepped returns when a look did not fit, 0 if all fitted, and by how much the clock
// jumped.
func (w *Watch) Stepped() (at time.Duration, by Jump) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stepped, w.jump
}

// LookedAt returns when the last look came in.
func (w *Watch) LookedAt() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looked
}

// WatchedSince reports whether the baseline has been good since a time. It is not while a
// new one is to begin.
func (w *Watch) WatchedSince(since time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.warm.Load() && !w.rebase && w.based <= since
}

// Shows returns the earliest and the latest possible reading of the clock now, in
// milliseconds, and whether there was a look in the last two seconds (V6).
func (w *Watch) Shows(now time.Duration) (earliest, latest int64, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	latest, known = w.recent.latest(now)
	return w.recent.earliest(now), latest, known
}

// Earliest returns the earliest possible reading of the clock at a time, now or later, in
// milliseconds.
func (w *Watch) Earliest(at time.Duration) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.recent.earliest(at)
}

// Warm reports whether the clock has been watched for long enough, by this redlockd or by
// others.
func (w *Watch) Warm() bool { return w.warm.Load() }

// LookAgain returns when the monitor looks again, if nothing wakes it before.
func (w *Watch) LookAgain() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.warm.Load() {
		return LookEvery
	}
	return min(LookEvery, max(LookEvery/10, w.by-w.now()))
}

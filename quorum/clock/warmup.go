package clock

import "time"

// A redlockd that has just started has no baseline to compare a clock with. One that has
// not seen a master for long, because it was cut off or stood still, has a useless one:
// the clock may have drifted by too much. Other redlockd may have a good baseline, and
// record a step in the mark within a second and some round trips. Until then the master
// does not vote here (M5).

// warmUp is the state of this wait.
type warmUp struct {
	// met is whether other redlockd were looked for since there was no baseline, others
	// whether there were any, by until when they must have recorded a step. waits is
	// whether there are any to wait for, from since on.
	met    bool
	others bool
	by     time.Duration
	waits  bool
	since  time.Duration
}

// WarmUpTime returns the longest time that another redlockd needs to see that a master's
// clock has stepped, and to record it in the master's mark, or in those of the others if
// that one cannot be written. It is the time between two looks and the round trips before
// and after it: for the beat, for the looks at this master and the others, and for
// writing the mark. timeout is the greatest in use, since the other redlockd's may be
// greater than ours. Masters whose round trips come near it hardly vote.
func WarmUpTime(timeout time.Duration) time.Duration {
	return LookEvery + 6*timeout + 15*LookPause
}

// Asks reports whether it is time to look for other redlockd that may have seen a step
// that our own baseline does not show.
func (w *Watch) Asks() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.warmUp.met && w.watched(w.now()-w.sure)
}

// HasOthers reports whether other redlockd were found.
func (w *Watch) HasOthers() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.warmUp.others
}

// Meet notes, by a look that went out at sent, whether there are others, and whether they,
// or others that may be about to reach this master, are to be waited for (WarmingUp).
func (w *Watch) Meet(others, waits bool, sent time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.warmUp = warmUp{met: true, others: others, by: sent, waits: waits, since: w.now()}
}

// Unwritable notes that the mark could not be written. Others may not have been able to
// record a step in it either, so the wait for them, if it is not over, begins again. It
// reports whether they are waited for: they may stand still or end before they can.
func (w *Watch) Unwritable() (waits bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.warm.Load() {
		return false
	}
	w.warmUp.met = false
	return w.warmUp.waits
}

// WarmingUp returns how much longer others may take to record a step in a mark that was
// looked at at sent; 0 if they must have done so before. whole is the longest that they
// may take.
func (w *Watch) WarmingUp(sent, whole time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.warm.Load() {
		return 0
	}
	u := &w.warmUp
	if u.waits {
		// It may be longer than was known when they were looked for: the first look at a
		// master shows its mark only then.
		u.by = max(u.by, u.since+whole)
	}
	switch {
	case u.met && sent >= u.by:
		return 0
	case !u.met:
		return whole
	default:
		return max(u.by-w.now(), time.Millisecond)
	}
}

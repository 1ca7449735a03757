package clock

import "time"

// A redlockd that has just started has no baseline to compare a clock with. One that has
// not seen a master for long, because it was cut off or stood still, has a useless one:
// the clock may have drifted by too much. Other redlockd may have a good baseline, and
// record a step in the mark within a second and some round trips. Until then the master
// does not vote here (M5).

// WarmUpTime returns the longest time that another redlockd needs to see that a master's
// clock has stepped, and to record it in the master's mark, or in those of the others if
// that one cannot be written. It is the time between two looks and the round trips before
// and after it: for the beat, for the looks at this master and the others, and for
// writing the mark. timeout is the greatest in use, since the other redlockd's may be
// greater than ours. Masters whose round trips come near it hardly vote.
func WarmUpTime(timeout time.Duration) time.Duration {
	return LookEvery + 6*timeout + 15*LookPause
}

// Unwritable notes that the mark could not be written. Others may not have been able to
// record a step in it either, so the wait for them, if it is not over, begins again. It
// reports whether it does: they may stand still or end before they can.
func (w *Watch) Unwritable() (waits bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.warm.Load() {
		return false
	}
	w.waits, w.by = w.now(), 0
	return true
}

// WarmingUp returns how much longer others may take to record a step in a mark that was
// looked at at sent; 0 if they must have done so before. whole is the longest that they
// may take, as the marks say that were looked at until now.
func (w *Watch) WarmingUp(sent, whole time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.warm.Load() {
		return 0
	}
	w.by = max(w.by, w.waits+whole)
	if sent >= w.by {
		return 0
	}
	return max(w.by-w.now(), time.Millisecond)
}

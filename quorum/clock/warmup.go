package clock

import "time"

// A redlockd that has just started has no baseline to compare a clock with, and one
// that has not seen a master for long, since it was cut off or stood still
// itself, has one of little use: so much may the clock have drifted. Others
// may have a good one, and tell of a step in the mark, within a second and some
// round trips. So long the master does not vote here (M5).

// warmUp is that wait.
type warmUp struct {
	// met is whether others were looked for since there was no baseline, others
	// whether there were any, by until when they must have told of a step.
	met    bool
	others bool
	by     time.Duration
}

// take takes over what database 0 knows of others; warm is whether its wait is over.
func (u *warmUp) take(zero warmUp, warm bool) {
	u.met, u.by = zero.met, zero.by
	if warm {
		u.by = never
	}
}

// left is how much longer the others may take, see Watch.WarmingUp.
func (u *warmUp) left(sent, now, whole time.Duration, told bool) time.Duration {
	switch {
	case u.met && sent >= u.by && told:
		return 0
	case !u.met:
		return whole
	default:
		return max(u.by-now, time.Millisecond)
	}
}

// WarmUpTime is how long another redlockd takes at most to see that a master's
// clock has stepped, and to say so in its mark, or in those of the others where
// its own cannot be written: the time between two looks, and seven round trips,
// for the beat before that time, for the look after it, for one at the other
// masters and one more, for the mark, and for a look at the others and theirs.
// Its timeout may be greater than ours: the greatest in use counts. Masters
// whose round trips come nearer to it hardly vote.
func WarmUpTime(timeout time.Duration) time.Duration {
	return LookEvery + 6*timeout + 15*LookPause
}

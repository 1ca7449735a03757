package mark

import "time"

// stateOf fills in what follows from the mark to write.
func (r *Rules) stateOf(j Judgement) Judgement {
	j.Open = true
	j = r.stateUnder(j, j.Write)
	if !j.Write.Real {
		j.State, j.Reason, j.Left = Quarantine, j.Write.Why, r.Wait-j.Write.Watched
		switch {
		case j.Write.Why == whyNew:
			j.State = Fresh
		case !r.seated(j.Write) && !r.Quiet:
			j.Reason += "; " + r.whyNotQuiet()
		case !r.SeatRecorded:
			j.Reason += "; " + whyNotRecorded
		case !r.Remembered && r.InView:
			j.Reason += "; " + WhyNobodyKnows
		case !r.Remembered && j.Left <= 0:
			j.Reason += "; " + whyOutOfView
		}
	}
	return j
}

// stateUnder fills in the state of a master under a real mark. One that joins does not
// vote yet (M8), nor does one whose clock is being watched (M5).
func (r *Rules) stateUnder(j Judgement, mk *Mark) Judgement {
	switch {
	case mk.Joining(r.Name):
		j.State, j.Reason = Quarantine, "joins the list of masters"
	case r.WarmingUp > 0:
		j.State, j.Reason, j.Left = Quarantine, WhyWarmingUp, r.WarmingUp
	case mk.Doubt > 0 && !r.Silent:
		j.State, j.Reason, j.Left = Quarantine, whyDoubt, mk.Doubt
	default:
		j.State = Voting
	}
	return j
}

// doubtLeft returns how long a mark is still in doubt.
func (r *Rules) doubtLeft(mk *Mark, reading int64) time.Duration {
	left := max(0, mk.Doubt-mk.gained(reading))
	if r.MostDoubt > 0 {
		left = min(left, r.MostDoubt)
	}
	return left
}

// setGrantLimit sets GrantLimit in a real mark, and takes over the floor of
// the others, if that is greater. A master that joins the list gets 0, since it may miss
// what is recorded under the previous list meanwhile.
func (r *Rules) setGrantLimit(c *Mark) {
	if !c.Real {
		return
	}
	c.Floor = max(c.Floor, r.Floor)
	switch {
	case c.Joining(r.Name):
		c.GrantLimit = 0
	case c.GrantLimit == 0 && !r.MayTakeOver:
	default:
		if c.GrantLimit == 0 {
			c.Greatest = max(c.Greatest, r.Greatest)
		}
		c.GrantLimit = max(c.GrantLimit, c.Floor, r.GrantLimit)
	}
}

// latest returns the state of the list of masters that a new mark records: no earlier one
// than in the present mark, unless what that records is outlived, or in the mark before it
// was lost.
func (r *Rules) latest(s Observation) Generation {
	g := r.Known
	if r.Outlived {
		return g
	}
	if g.Less(r.LastRecorded) {
		g = r.LastRecorded
	}
	if s.Mark != nil && g.Less(s.Mark.Generation) && s.Mark.Counts(r.List) {
		g = s.Mark.Generation
	}
	return g
}

package quorum

// stateOf fills in what follows from the mark that is written.
func (r *rules) stateOf(j judgement) judgement {
	j.open = true
	j = r.stateUnder(j, j.write)
	if !j.write.real {
		j.state, j.reason, j.left = stateQuarantine, j.write.why, r.wait-j.write.watched
		switch {
		case j.write.why == whyNew:
			j.state = stateFresh
		case r.db == 0 && r.own.server != j.write.id && !r.quiet:
			j.reason += "; " + r.whyNotQuiet()
		case r.db == 0 && !r.borne:
			j.reason += "; " + whyNotBorne
		case r.db == 0 && !r.remembered && r.inView:
			j.reason += "; " + whyNobodyKnows
		case r.db == 0 && !r.remembered && j.left <= 0:
			j.reason += "; " + whyOutOfView
		}
	}
	return j
}

// stateUnder fills in what a master is under a real mark: one that joins does
// not vote yet (M8), nor does one whose clock is being watched (M5).
func (r *rules) stateUnder(j judgement, mk *mark) judgement {
	switch {
	case mk.joining(r.name):
		j.state, j.reason = stateQuarantine, "joins the list of masters"
	case r.warmingUp > 0:
		j.state, j.reason, j.left = stateQuarantine, whyWarmingUp, r.warmingUp
	case r.db == 0 && mk.residueOf(r.redlockd) == 0:
		j.state, j.reason = stateQuarantine, whyTooMany
	case mk.doubt > 0 && !r.silent:
		j.state, j.reason, j.left = stateQuarantine, whyDoubt, mk.doubt
	default:
		j.state = stateVoting
	}
	return j
}

// tell writes into a real mark of database 0 what it is told. One that joins the
// list is not, since it may miss what the list before is told meanwhile.
func (r *rules) tell(c *mark) {
	switch {
	case r.db != 0 || !c.real:
	case c.joining(r.name):
		c.told = 0
	case c.told == 0 && !r.sure:
	default:
		if c.told == 0 {
			c.greatest = max(c.greatest, r.greatest)
		}
		c.told = max(c.told, r.floor, r.told)
	}
}

package quorum

import "slices"

// asksForLess is whether what was won has found a later expiry than the client
// asks for. Needs mu.
func (a *attempt) asksForLess() bool {
	may := a.op.Kind == AcquireOrExtend || a.op.Kind == Extend
	return may && !a.waits() && slices.ContainsFunc(a.ballots, func(b ballot) bool { return b.vote == longer })
}

// shorten asks once more for what was won, where that is less than the masters
// hold: the client has the lock by now, and nobody else is told less (V6).
func (a *attempt) shorten() {
	next := newAttempt(a.call, a.op, a.then)
	next.shortens, next.before = true, a
	next.begin(a.call.q.now())
}

// heal gives an extended lock back to the masters that have lost it (V9): to
// those whose "absent" was in hand when a quorum had prolonged it, at once,
// and never later, so that a release that comes next goes behind it. It is no
// vote, and nobody waits for it.
func (a *attempt) heal() {
	if a.op.Kind != Extend {
		return
	}
	token := a.op.Token
	if a.op.Replace {
		token = a.op.NewToken
	}
	var healed [maxMasters]bool
	a.mu.Lock()
	for i, b := range a.ballots {
		healed[i] = b.vote == absent || b.lost
	}
	a.mu.Unlock()
	now := a.call.q.now()
	for i, l := range a.masters.lanes {
		if healed[i] {
			t := &a.tasks[i]
			// The expiry that the extend would have given.
			l.send(&task{kind: Extend, heals: true, key: a.op.Key, token: token, prolongs: t.prolongs, deadline: t.deadline}, now)
		}
	}
}

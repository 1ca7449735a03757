package quorum

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
			// The expiry that the extend would have given, odd like it.
			l.send(&task{kind: Extend, heals: true, key: a.op.Key, token: token, expiry: t.expiry, deadline: t.deadline}, now)
		}
	}
}

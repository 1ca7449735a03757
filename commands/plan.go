package commands

import "github.com/redlockd/redlockd/quorum"

// plan is what follows from the state of one or more locks: changes that are
// made all or none, and only while the states are still so, and what is
// answered then. Without changes the reply is the answer.
type plan struct {
	changes []quorum.Change
	reply   Reply
	notices []Notice
}

// decision is a plan for one lock, found in state s.
func (p plan) decision(s quorum.State) decision {
	d := decision{reply: p.reply, notices: p.notices}
	for _, c := range p.changes {
		if c.Delete {
			d.op = quorum.Op{Kind: quorum.Release, Token: s.Token}
			continue
		}
		d.op = replace(s, quorum.Op{Token: c.Token, TTL: c.TTL})
	}
	return d
}

// decideAll is a request that looks at several locks first and then changes
// all that its plan names, or none. choose is as in decide. unless are watches
// that forbid it; the reply is the null array then.
func (in *Interpreter) decideAll(db int, keys []string, unless []*quorum.Watch, choose func([]quorum.State) plan) Request {
	var last plan
	op := quorum.Op{Kind: quorum.DecideAll, DB: db, Key: keys[0], Keys: keys, Unless: unless}
	op.DecideAll = func(states []quorum.State) []quorum.Change {
		last = choose(states)
		if held, takes := takesLapsed(keys, states, last.changes); takes {
			last = choose(held)
		}
		return last.changes
	}
	reply := shape(func(o *quorum.Outcome) Reply {
		switch {
		case o.Verdict == quorum.Won:
			return last.reply
		case anyChanged(unless):
			return NullArray
		}
		return Error(errMoved)
	})
	notices := func(outs []*quorum.Outcome) []Notice {
		if outs[0].Err != nil || outs[0].Verdict != quorum.Won {
			return nil
		}
		return last.notices
	}
	return Request{Ops: []quorum.Op{op}, Reply: reply.one(), Notices: notices}
}

// takesLapsed is whether changes would take a lock that is used up and not yet
// free (V3), and the states in which those are held.
func takesLapsed(keys []string, states []quorum.State, changes []quorum.Change) ([]quorum.State, bool) {
	lapsed := make(map[string]bool)
	held := make([]quorum.State, len(states))
	for i, s := range states {
		held[i] = s
		if s.Lapsed {
			lapsed[keys[i]] = true
			held[i] = lapsing(s)
		}
	}
	for _, c := range changes {
		if lapsed[c.Key] {
			return held, true
		}
	}
	return nil, false
}

func anyChanged(watches []*quorum.Watch) bool {
	for _, w := range watches {
		if w.Changed() {
			return true
		}
	}
	return false
}

package quorum

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// outcome builds the outcome from the verdict. It is called once for a verdict of Won.
func (a *attempt) outcome(v Verdict) *Outcome {
	a.mu.Lock()
	t := vote.Count(a.box.ballots, a.box.needs)
	o := &a.result
	*o = Outcome{Verdict: v, Done: a.op.Kind, Did: a.op}
	switch {
	case v == Won && a.promises():
		a.promise.attempt = a
		o.grant = &a.promise
		// The client had the lock if a quorum may have prolonged it, by the votes so
		// far (V4), and its TTL was not over (V15).
		had := vote.HowMany(a.box.ballots, func(b *vote.Ballot) bool { return !b.Over && b.Extended() })
		o.Prolonged = had+t.Awaited+t.Silent >= t.Quorum && had > 0
	case v == Held && a.op.Kind == Read:
		a.readState(o, &t)
	case v == Held && t.Known():
		o.State = State{Found: true, Token: t.Holder()}
	}
	a.mu.Unlock()
	if o.Verdict == Undecided || o.Verdict == Split {
		o.Err = a.noQuorum(o.Verdict)
	}
	return o
}

// readState fills in the token and the q-th greatest remaining times (V10). A lock that is over
// is absent (V15). If no quorum can decide, or the key is no string, the verdict is Undecided. A
// token that only the required master holds is an old client's lock: its word is a quorum of one
// (V11). The caller must hold mu.
func (a *attempt) readState(o *Outcome, t *vote.Tally) {
	among, quorum, over := a.box.ballots, t.Quorum, t.Living < t.Quorum
	s := State{Token: t.Holder(), lacks: t.Least - t.Unknown - t.Doubtful}
	alone := t.RequiredHolds()
	if alone {
		among, quorum, over = []vote.Ballot{*t.RequiredBallot}, 1, t.RequiredBallot.Over
		s.lacks = 1
	}
	var left, holds []time.Duration
	for _, b := range among {
		if b.Vote == vote.Found && b.Token == s.Token && !b.Foreign {
			left, holds = append(left, b.Left), append(holds, b.Hold)
			s.locks += b.Tail.Lock.String()
		}
	}
	nth := len(left) - quorum
	if nth < 0 || !alone && a.box.mayLive(t) {
		o.Verdict = Undecided
		return
	}
	slices.Sort(left)
	slices.Sort(holds)
	s.Found, s.Lapsed, s.TTL, s.Hold = !over, over, left[nth], holds[nth]
	if over {
		o.Verdict, s.TTL = Absent, s.Hold
	}
	s.TTL = min(max(s.TTL, time.Millisecond), a.call.q.cfg.MaxTTL)
	o.State = s
}

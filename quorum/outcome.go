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
		had := t.Prolonged - a.box.over()
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

// readState fills in the token and the q-th greatest remaining time (V10). A lock that
// is over is absent (V15). The caller must hold mu.
func (a *attempt) readState(o *Outcome, t *vote.Tally) {
	token, left, hold, over, ok := a.leftOf(t)
	switch {
	case !ok:
		o.Verdict = Undecided
		return
	case over:
		o.Verdict, left = Absent, hold
	}
	locks, lacks := a.box.locksOf(token), t.Least-t.Unknown-t.Doubtful
	if t.RequiredHolds() {
		locks, lacks = t.RequiredBallot.Tail.Lock.String(), 1 // by its word alone (V11)
	}
	o.State = State{Found: !over, Lapsed: over, Token: token, TTL: min(max(left, time.Millisecond), a.call.q.cfg.MaxTTL),
		Hold: hold, locks: locks, lacks: lacks}
}

// leftOf returns the token that a read found, what remains of its TTL and of its hold, and
// whether the lock is over. ok is false if no quorum can decide, or if the key is no string. A
// token that only the required master holds is an old client's lock (V11). The caller must hold
// mu.
func (a *attempt) leftOf(t *vote.Tally) (token string, remains, hold time.Duration, over, ok bool) {
	if t.RequiredHolds() {
		b := t.RequiredBallot
		return b.Token, b.Left, b.Hold, b.Over, !b.Foreign
	}
	var left, holds []time.Duration
	for _, b := range a.box.ballots {
		if b.Vote == vote.Found && b.Token == t.Most && !b.Foreign {
			left, holds = append(left, b.Left), append(holds, b.Hold)
		}
	}
	if len(left) < t.Quorum || a.box.mayLive(t) {
		return "", 0, 0, false, false
	}
	slices.Sort(left)
	slices.Sort(holds)
	nth := len(left) - t.Quorum
	return t.Most, left[nth], holds[nth], t.Living < t.Quorum, true
}

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
	if v == Won && a.op.TTL > 0 {
		a.call.db.keys.granted(a)
		if !a.promises() {
			a.call.db.keys.noteTerms(a, a.times.ended) // it has no grant, so Confirm does not
		}
	}
	switch {
	case v == Won && a.promises():
		a.promise.attempt = a
		o.grant = &a.promise
		// The client had the lock if a quorum may have prolonged it, by the votes so
		// far (V4).
		o.Prolonged = t.Prolonged+t.Awaited+t.Silent >= t.Quorum && t.Prolonged > 0 && !a.call.wasOver
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
// is over is absent (V3). The caller must hold mu.
func (a *attempt) readState(o *Outcome, t *vote.Tally) {
	token, left, over, ok := a.leftOf(t)
	if !ok {
		o.Verdict = Undecided
		return
	}
	if over {
		spares := a.term.knows(a.masters) && a.term.token == token && a.term.mayLast(a.call.arrived, a.call.q.cfg)
		o.Verdict, o.State = Absent, State{Lapsed: true, Token: token, Spared: spares}
		return
	}
	o.State = State{Found: true, Token: token, TTL: a.call.db.keys.readableTTL(a, token, max(left, time.Millisecond)), left: left}
	o.State.locks, o.State.lacks = a.box.locksOf(token), t.Least-t.Unknown
}

// leftOf returns the token that a read found, what remains of its TTL, and whether the lock
// is over. As long as it is not, what remains may be less than a millisecond. ok is false if
// no quorum can decide, or if the key is no string. A token that only the required master
// holds is an old client's lock, which has no padding (V11). The caller must hold mu.
func (a *attempt) leftOf(t *vote.Tally) (token string, remains time.Duration, over, ok bool) {
	if t.RequiredHolds() {
		b := t.RequiredBallot
		return b.Token, b.Left, b.Left < time.Millisecond, !b.Foreign
	}
	var left []time.Duration
	living := 0
	for _, b := range a.box.ballots {
		if b.Vote == vote.Found && b.Token == t.Most && !b.Foreign {
			left = append(left, b.Left)
			if !b.Over {
				living++
			}
		}
	}
	switch {
	case len(left) < t.Quorum || a.box.mayLive(t):
		return "", 0, false, false
	case living < t.Quorum:
		return t.Most, 0, true, true
	}
	if lasts, ok := a.term.lasts(a.masters, t.Most, a.call.arrived, a.call.q.now()); ok && a.box.unchanged(t.Most, a.term.attempt, &a.term.ends) {
		return t.Most, lasts, false, true
	}
	slices.Sort(left)
	return t.Most, a.call.q.remaining(left[len(left)-t.Quorum]), false, true
}

// noQuorum returns the error for a verdict of Undecided or Split.
func (a *attempt) noQuorum(v Verdict) error {
	a.mu.Lock()
	s := shortfall{kind: a.op.Kind, db: a.call.db.Database, masters: a.masters, began: a.times.began, took: a.times.known - a.times.began,
		timeout: a.call.q.cfg.Timeout, ballots: slices.Clone(a.box.ballots), needs: a.box.needs, unsent: a.box.unsent, hold: a.mark}
	a.mu.Unlock()
	return s.noQuorum(v == Split)
}

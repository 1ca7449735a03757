package quorum

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// outcome makes of a verdict what the client is told. It is called once.
func (a *attempt) outcome(v Verdict) *Outcome {
	a.mu.Lock()
	t := vote.Count(a.box.ballots, a.box.needs)
	o := &a.result
	*o = Outcome{Verdict: v, Done: a.op.Kind, Did: a.op}
	if v == Won && a.op.TTL > 0 {
		a.noteGrant()
		if !a.promises() {
			a.noteTerms(a.times.ended) // nobody says when that is told
		}
	}
	switch {
	case v == Won && a.promises():
		a.promise.attempt = a
		o.grant = &a.promise
		// Extended is what a quorum had before, as far as can be told (V4).
		o.Prolonged = t.Prolonged+t.Awaited+t.Silent >= t.Quorum && t.Prolonged > 0
	case v == Held && a.op.Kind == Read:
		a.readState(o, &t)
	case v == Held:
		o.State.Token = t.Holder()
	}
	a.mu.Unlock()
	if o.Verdict == Undecided || o.Verdict == Split {
		o.Err = a.noQuorum(o.Verdict)
	}
	return o
}

// noteGrant tells the reads that come next what was asked for.
func (a *attempt) noteGrant() {
	a.call.db.keys.keep(a)
	if a.op.Kind != transact {
		a.granted(a.op.Key, a.op.TTL, (*outbox.Task).Latest)
		return
	}
	for i := range a.op.steps {
		if s := &a.op.steps[i]; s.Hold > 0 {
			a.granted(s.Key, s.TTL, ofStep(i))
		}
	}
}

// readState fills in the token and the q-th greatest remaining time (V10).
// What is used up is absent (V3). Needs mu.
func (a *attempt) readState(o *Outcome, t *vote.Tally) {
	token, left, ok := a.leftOf(t)
	if !ok {
		o.Verdict = Undecided
		return
	}
	if left < time.Millisecond {
		o.Verdict, o.State = Absent, State{Lapsed: true, Token: token}
		return
	}
	o.State = State{Found: true, Token: token, TTL: a.tellable(token, left)}
}

// leftOf is the token that a read found and what remains of its TTL, less than a
// millisecond only where that is over; false where nobody can tell, or where the
// key is no string. What only the required master knows is an old client's lock,
// and lives there as long as its TTL and no longer (V11). Needs mu.
func (a *attempt) leftOf(t *vote.Tally) (string, time.Duration, bool) {
	if t.ItsWord() {
		return t.Its.Token, t.Its.Left, !t.Its.Foreign
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
	case len(left) < t.Quorum || a.mayLive(t):
		return "", 0, false
	case living < t.Quorum:
		return t.Most, 0, true
	}
	if lasts, ok := a.lasts(t.Most); ok {
		return t.Most, lasts, true
	}
	slices.Sort(left)
	return t.Most, max(a.call.q.remaining(left[len(left)-t.Quorum]), time.Millisecond), true
}

// mayLive reports whether what is used up on the q-th of the masters that have
// answered may not be with the others: after an extend they may have it for
// longer, and a master in quarantine may have it for too short (V10). Needs
// mu.
func (a *attempt) mayLive(t *vote.Tally) bool {
	alive, doubtful := 0, 0
	for _, b := range a.box.ballots {
		switch {
		case b.Vote == vote.Found && b.Doubtful && b.Token != t.Most:
			doubtful++ // it does not tell what it held before
		case b.Vote != vote.Found || b.Token != t.Most || b.Foreign:
		case !b.Over:
			alive++
		case b.Doubtful:
			doubtful++
		}
	}
	return alive > 0 && alive < t.Quorum && alive+doubtful+t.Unheard+t.Awaited >= t.Quorum
}

package quorum

import (
	"slices"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// The attempts of a DecideAll that change something. What a lost attempt has created can be
// rolled back, since it has a name (V6); what it has deleted, or given another token, cannot.
// So a transaction that does the latter, and depends on other keys too, is carried out in two
// attempts (V1). The first one makes sure, on each master, that all keys are as they were
// read, and creates. Once it is won, the second one does the rest, wherever the keys that it
// changes are as they were read. It does not ask for the other keys: these could refuse it on
// a majority when a minority has carried it out, and the client would lose a lock while it is
// told that nothing was done. If it is lost, what was created is rolled back. The keys' queues
// stay held over both (V7).

// transact makes the changes of a DecideAll, given as effects.
func (c *call) transact(effects []outbox.Effect, changes []Change) {
	first, rest := c.inTwo(c.transactOf(effects))
	c.attempt(first, func(a *attempt, v Verdict) {
		switch {
		case v != Won:
			c.notTransacted(a, v, changes)
		case rest != nil:
			c.transactRest(a, rest, changes)
		default:
			c.transacted(a.outcome(v), changes)
		}
	}, c.q.now())
}

// transactOf returns the operation that carries out some effects.
func (c *call) transactOf(effects []outbox.Effect) *Op {
	op := &Op{Kind: transact, DB: c.op.DB, Key: effects[0].Key, effects: effects}
	for i := range effects {
		op.TTL = max(op.TTL, effects[i].TTL)
	}
	return op
}

// inTwo divides a transact that does what cannot be undone, if it also creates locks or asks
// for other keys; rest is nil for any other. The marks bear the holds of both before the
// first one begins (M3).
func (c *call) inTwo(op *Op) (first, rest *Op) {
	var checks, final []outbox.Effect
	for _, e := range op.effects {
		if e.Final() {
			final = append(final, e)
			e = outbox.Effect{Key: e.Key, Meets: e.Meets, Token: e.Token, Whose: e.Whose, Does: outbox.Leaves}
		}
		checks = append(checks, e)
	}
	if len(final) == 0 || len(final) == len(checks) {
		return op, nil
	}
	first, rest = c.transactOf(checks), c.transactOf(final)
	first.TTL = op.TTL
	return first, rest
}

// transactRest carries out what cannot be undone, now that first is won.
func (c *call) transactRest(first *attempt, rest *Op, changes []Change) {
	rest.first = first
	c.attempt(rest, func(a *attempt, v Verdict) {
		if v != Won {
			first.rollback(mayHaveCreated)
			c.notTransacted(a, v, changes)
			return
		}
		o, second := first.outcome(Won), a.outcome(Won)
		if second.grant != nil {
			o.grant.rest = a
		}
		c.transacted(o, changes)
	}, c.q.now())
}

// acts reports whether an attempt does something to its keys that others may see.
func (a *attempt) acts() bool {
	return slices.ContainsFunc(a.effects, func(e outbox.Effect) bool { return e.Does != outbox.Leaves && e.Does != outbox.Keeps })
}

// transacted ends a DecideAll whose changes are made.
func (c *call) transacted(o *Outcome, changes []Change) {
	o.Done, o.Changes = DecideAll, changes
	c.finish(o)
}

// tried is what a try of a Decide or DecideAll would have changed, if it may have done some of
// it, and the outcome that says so.
type tried struct {
	changes []Change
	outcome *Outcome
}

// note keeps the first such try.
func (t *tried) note(changes []Change, o *Outcome) {
	if t.outcome == nil {
		*t = tried{changes, o}
	}
}

// mayBeWhy reports whether the next try found other changes to make, perhaps because this
// one has made some.
func (t *tried) mayBeWhy(changes []Change) bool {
	return t.outcome != nil && !slices.EqualFunc(t.changes, changes, func(was, is Change) bool {
		return was.Key == is.Key && was.Delete == is.Delete && was.Token == is.Token
	})
}

// nothingDone ends a call that has done nothing in this try. If an earlier one may have
// done something, its outcome is the call's.
func (c *call) nothingDone(o *Outcome) {
	if o.Err == nil && c.tried.outcome != nil {
		o = c.tried.outcome
	}
	c.finish(o)
}

// leaves reports whether a lost attempt may have done what no rollback undoes, at masters that
// said so, or whose answer is missing: it has taken something from a lock on any of them, or a
// transaction may have been carried out by a majority, where others have seen it. A release has,
// where a master says so: what has become of the others' copies is read. But where no majority can
// have the lock, and nobody else has a copy, there was none (V8).
func (a *attempt) leaves(v Verdict) bool {
	box := a.votes()
	if a.op.Kind == Release {
		t := vote.Count(box.ballots, box.needs)
		return t.Yes > 0 && (v != Absent || t.Met > 0)
	}
	final := slices.ContainsFunc(a.effects, func(e outbox.Effect) bool { return e.Final() })
	return box.mayHaveDone() && (final || a.op.Kind == transact && v == Undecided)
}

// notTransacted ends a DecideAll whose changes are not made, or begins it anew. With a
// quorum of answers, even if a few silent masters leave the verdict undecided, the next
// attempt can find out: it reads again. But "nothing was done" would be wrong (P4) where the
// first of two attempts did something, which others may have seen, and where any attempt may have
// freed a lock, given it another token, or been carried out by a majority.
func (c *call) notTransacted(a *attempt, v Verdict, changes []Change) {
	acted := a.op.first != nil && a.op.first.acts()
	leaves := acted || a.leaves(v)
	if leaves {
		v = Undecided
	}
	o := a.outcome(v)
	o.Done = DecideAll
	if leaves {
		c.tried.note(changes, o)
	}
	box := a.votes()
	if t := vote.Count(box.ballots, box.needs); !acted && t.Answered >= a.masters.Quorum && c.mayRetry() {
		c.retry()
		return
	}
	c.nothingDone(o)
}

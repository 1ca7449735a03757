package quorum

import (
	"strings"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// What a won operation has done to a lock is done again on the masters that missed it (V8):
// they would give a released lock back to its client's next read, or lack the new token, while
// they and not others are up. The repetition is no vote, and names the copies that the
// operation met: what was stored or extended since is not among them, and stays.

// repeat repeats the operation on the masters that have missed it.
func (a *attempt) repeat() {
	if !a.mayRepeat() {
		return
	}
	for i := range a.masters.Links {
		a.mu.Lock()
		b := a.box.ballots[i]
		a.mu.Unlock()
		a.repeatAt(i, b)
	}
}

// mayRepeat reports whether the operation takes something from a lock, which it must on all
// masters.
func (a *attempt) mayRepeat() bool {
	return a.op.Kind != Store && (a.op.Kind == transact || a.effects[0].Final())
}

// repeatAt repeats the operation on one master, if it has missed it by its vote: its answer is
// missing, or it has refused, perhaps because a change that came before is still to be repeated
// there. A transaction is missed also because another of its keys is absent. A release that was
// not won is repeated all the same, as its client does not want the lock.
func (a *attempt) repeatAt(i int, b vote.Ballot) {
	switch {
	case b.Vote == vote.Silent && !b.AbsentVoid, b.Vote == vote.Refused && !b.Foreign, b.Vote == vote.Absent && a.op.Kind == transact:
	default:
		return
	}
	a.mu.Lock()
	tasks := a.repeats()
	a.mu.Unlock()
	for _, t := range tasks {
		a.masters.Links[i].Send(t, a.call.q.now())
	}
}

// repeats returns the tasks that do again what the attempt did. The caller must hold mu.
func (a *attempt) repeats() (out []*outbox.Task) {
	if !a.mayRepeat() {
		return nil
	}
	for k, e := range a.effects {
		if !e.Final() || !a.won && a.op.Kind != Release {
			continue
		}
		if e.Meets, e.Whose = outbox.Those, a.met(k); e.Whose == "" {
			continue
		}
		if e.Does == outbox.Raises {
			e.Does = outbox.Stores // with its own times
		}
		t := &outbox.Task{Kind: Release, MustDeliver: true, Missed: &outbox.Missed{Began: a.times.began},
			Until: a.times.began + a.call.q.cluster.LongestHold()}
		if e.Gives() {
			t.Kind, t.Until = Extend, a.times.began+e.Hold
			t.Copies = []outbox.Copy{{Tail: tail.Tail{Lock: a.lock, Attempt: a.id, Grace: a.call.q.cfg.Timeout}}}
		}
		t.Effects = []outbox.Effect{e}
		out = append(out, t)
	}
	return out
}

// met returns the copies of key k, as they are written, that the attempt has deleted or
// changed. Of a Remove it is those of a lock that a quorum had, or the required master (V11):
// fewer copies may belong to an acquire under way that wins on other masters. Bare tokens are
// nobody's. The caller must hold mu.
func (a *attempt) met(k int) string {
	var out strings.Builder
	copies := map[tail.ID]int{}
	for i := range a.box.ballots {
		if its, ok := a.took(i, k); ok {
			if copies[its.Lock]++; i == a.box.needs.Required {
				copies[its.Lock] += a.box.needs.Quorum // its word is enough
			}
		}
	}
	for i := range a.box.ballots {
		its, ok := a.took(i, k)
		if ok && (a.op.Kind != Remove || copies[its.Lock] >= a.box.needs.Quorum) {
			out.WriteString(its.IDs())
		}
	}
	return out.String()
}

// took returns the tail of the copy that the attempt has deleted or changed on master i; false
// if it has not, or the copy had none.
func (a *attempt) took(i, k int) (tail.Tail, bool) {
	b := &a.box.ballots[i]
	its := b.Tail
	if b.Were != nil { // of a transaction
		its = (*b.Were)[k]
	}
	switch b.Vote {
	case vote.Released, vote.Prolonged, vote.Longer, vote.Created, vote.Absent:
		return its, !its.Bare() // what is absent has none, unless it was over
	default:
		return its, false
	}
}

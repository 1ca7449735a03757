package quorum

import (
	"time"

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
	return a.op.Kind == Release || a.op.Kind == Remove || a.op.Kind == transact || a.op.Replace
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
	switch {
	case a.op.Kind == Release, a.op.Kind == Remove && a.won:
		out = a.deletesAgain(out, 0, a.op.Key)
	case a.op.Replace && a.won:
		out = a.changesAgain(out, 0, a.op.Key, a.op.NewToken, a.op.TTL, a.hold, a.op.Keeps)
	case a.op.Kind == transact && a.won:
		for k := range a.op.steps {
			switch s := &a.op.steps[k]; {
			case s.Exists && s.Does == outbox.Deletes:
				out = a.deletesAgain(out, k, s.Key)
			case s.Exists && s.Does == outbox.Stores && (s.Token != s.Was || !s.Keeps && !s.Raises):
				out = a.changesAgain(out, k, s.Key, s.Token, s.TTL, s.Hold, s.Keeps)
			}
		}
	}
	return out
}

func (a *attempt) deletesAgain(out []*outbox.Task, k int, key string) []*outbox.Task {
	met := a.met(k)
	if len(met) == 0 {
		return out
	}
	return append(out, &outbox.Task{Kind: Release, Then: outbox.Repeats, Key: key, Missed: &outbox.Missed{Met: met, Began: a.times.began}, Until: a.times.began + a.call.q.cluster.LongestHold()})
}

func (a *attempt) changesAgain(out []*outbox.Task, k int, key, token string, ttl, hold time.Duration, keeps bool) []*outbox.Task {
	met := a.met(k)
	if len(met) == 0 {
		return out
	}
	gives := tail.Tail{Lock: a.lock, Attempt: a.id, Grace: a.call.q.cfg.Timeout}
	return append(out, &outbox.Task{Kind: Extend, Then: outbox.Repeats, Key: key, Token: token, Copy: outbox.Copy{Tail: gives},
		Missed: &outbox.Missed{Met: met, Began: a.times.began, Keeps: keeps, Ends: a.times.began + ttl}, Until: a.times.began + hold})
}

// met returns the copies of step k, or of the only key, that the attempt has deleted or
// changed. Of a Remove it is those of a lock that a quorum had, or the required master (V11):
// fewer copies may belong to an acquire under way that wins on other masters. Bare tokens are
// nobody's. The caller must hold mu.
func (a *attempt) met(k int) (out []tail.Pair) {
	copies := map[tail.ID]int{}
	for i := range a.box.ballots {
		if its, ok := a.took(i, k); ok {
			copies[its.Lock]++
		}
	}
	for i := range a.box.ballots {
		its, ok := a.took(i, k)
		if ok && (a.op.Kind != Remove || copies[its.Lock] >= a.box.needs.Quorum || a.requiredHad(its.Lock, k)) {
			out = append(out, its.Pair())
		}
	}
	return out
}

// took returns the tail of the copy that the attempt has deleted or changed on master i; false
// if it has not, or the copy had none.
func (a *attempt) took(i, k int) (tail.Tail, bool) {
	b := &a.box.ballots[i]
	its := tailOf(b, k)
	switch b.Vote {
	case vote.Released, vote.Prolonged, vote.Longer, vote.Created, vote.Absent:
		return its, !its.Bare() // what is absent has none, unless it was over
	default:
		return its, false
	}
}

func (a *attempt) requiredHad(lock tail.ID, k int) bool {
	at := a.box.needs.Required
	if at < 0 {
		return false
	}
	its, ok := a.took(at, k)
	return ok && its.Lock == lock
}

// tailOf returns the tail that a master's copy had, of step k or of the only key.
func tailOf(b *vote.Ballot, k int) tail.Tail {
	switch {
	case b.Were == nil:
		return b.Tail
	case k < len(*b.Were):
		return (*b.Were)[k]
	default:
		return tail.Tail{}
	}
}

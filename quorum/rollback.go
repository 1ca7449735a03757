package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// late notes a vote that comes after the verdict. If the attempt was lost, a copy to which
// the late operation gave its name is rolled back. The caller must hold mu; late releases it.
func (a *attempt) late(i int, b vote.Ballot) {
	waited := a.box.ballots[i].Vote == vote.Awaited
	if waited {
		a.box.ballots[i] = b
		a.masters.Links[i].VoteCounts().CountSpare(b.Vote)
	}
	spare := !a.mayHaveName(b.Vote) && a.box.undone>>i&1 != 0
	again := waited && a.unwanted && a.box.undone>>i&1 == 0 && a.mayHaveName(b.Vote) && a.box.wentOut(i)
	if again {
		a.box.undone |= 1 << i
	}
	a.mu.Unlock()
	switch {
	case again:
		a.rollbackAt(i)
	case spare:
		a.dropRollbackAt(i)
	}
}

// dropRollbackAt drops the rollback on a master that turns out to have created nothing. An
// attempt without a name has none: without an expiry it would be the name of a release (V8).
func (a *attempt) dropRollbackAt(i int) {
	t, l := &a.tasks[i], a.masters.Links[i]
	if a.namesCopies {
		l.DropRollback(outbox.Name{Key: t.Key, Token: t.Token, Expiry: t.Expiry})
		return
	}
	for k := range a.op.steps {
		if s := &a.op.steps[k]; s.Creates() {
			l.DropRollback(outbox.Name{Key: s.Key, Token: s.Token, Expiry: t.Expiries[k]})
		}
	}
}

// rollback deletes what the attempt created, on every master to which the operation was
// sent and for whose vote which returns true (P5, V6).
func (a *attempt) rollback(which func(vote.Vote) bool) {
	var at uint16
	a.mu.Lock()
	a.unwanted = true
	for i := range a.box.ballots {
		if v := a.box.ballots[i].Vote; a.box.wentOut(i) && (which(v) || a.mayHaveName(v) && !mayHaveCreated(v)) {
			at |= 1 << i
		}
	}
	at &^= a.box.undone
	a.box.undone |= at
	a.mu.Unlock()
	for i := range a.masters.Links {
		if at>>i&1 != 0 {
			a.rollbackAt(i)
		}
	}
}

// mayHaveCreated reports whether the key may have been created on a master with this
// vote: also if its answer came too late, or never came.
func mayHaveCreated(v vote.Vote) bool {
	return v != vote.Refused && v != vote.Absent && v != vote.Prolonged && v != vote.Longer
}

// mayHaveName reports whether a copy on a master with this vote may bear the attempt's
// name; also one that a renewal has prolonged.
func (a *attempt) mayHaveName(v vote.Vote) bool {
	return mayHaveCreated(v) || v == vote.Prolonged && a.namesCopies && a.op.renews != nil
}

// rollbackAt sends the rollback to one master: behind the operation on the same
// connection, or over the next one.
func (a *attempt) rollbackAt(i int) {
	t := &a.tasks[i]
	switch {
	case a.namesCopies:
		a.undo(i, t.Key, t.Token, t.Expiry, a.hold)
	case a.op.Kind == transact:
		for k := range a.op.steps {
			if s := &a.op.steps[k]; s.Creates() {
				a.undo(i, s.Key, s.Token, t.Expiries[k], s.Hold)
			}
		}
	}
}

func (a *attempt) undo(i int, key, token string, expiry int64, hold time.Duration) {
	cfg := a.call.q.cfg
	a.call.q.counts.rollbacks.Add(1)
	a.masters.Links[i].Send(&outbox.Task{Kind: a.op.Kind, Rollback: true, Key: key, Token: token, Expiry: expiry,
		Mark:  a.tasks[i].Mark,
		Until: a.times.began + hold + cfg.Timeout + cfg.LookSlack() + cluster.ExpirySpread + cluster.NameSlack}, a.call.q.now())
}

package quorum

import (
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// What an attempt has created has its ID for lock and attempt, until somebody else gets the
// copy. A rollback deletes that and nothing else, however late it comes (V6).

// late notes a vote that comes after the verdict. What the operation has created meanwhile is
// rolled back if the attempt was lost; what a master has missed of a won one is repeated. The
// caller must hold mu; late releases it.
func (a *attempt) late(i int, b vote.Ballot) {
	waited := a.box.ballots[i].Vote == vote.Awaited
	if waited {
		a.box.ballots[i] = b
		a.masters.Links[i].VoteCounts().Count(b.Vote, true)
	}
	undoes := waited && a.unwanted && a.box.undone>>i&1 == 0 && mayHaveCreated(b.Vote) && a.box.wentOut(i)
	if undoes {
		a.box.undone |= 1 << i
	}
	a.mu.Unlock()
	if undoes {
		a.rollbackAt(i)
	}
	if waited {
		a.repeatAt(i, b)
	}
}

// rollback deletes what the attempt created, on every master to which the operation was
// sent and for whose vote which returns true (P5, V6).
func (a *attempt) rollback(which func(vote.Vote) bool) {
	var at uint16
	a.mu.Lock()
	a.unwanted = true
	for i := range a.box.ballots {
		if v := a.box.ballots[i].Vote; a.box.wentOut(i) && which(v) {
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

// rollbackAt sends the rollback to one master: behind the operation on the same
// connection, or over the next one.
func (a *attempt) rollbackAt(i int) {
	own := tail.Tail{Lock: a.id, Attempt: a.id}
	for k := range a.effects {
		e := &a.effects[k]
		if !e.Creates() {
			continue
		}
		a.call.q.counts.rollbacks.Add(1)
		a.masters.Links[i].Send(&outbox.Task{Kind: a.op.Kind, MustDeliver: true,
			Effects: []outbox.Effect{{Key: e.Key, Meets: outbox.Those, Whose: own.IDs(), Does: outbox.Deletes}},
			Until:   a.times.began + e.Hold + a.call.q.cfg.Timeout + a.call.q.cfg.LookSlack()}, a.call.q.now())
	}
}

package quorum

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// begin sends the operation to all masters, or to the first one alone. now is the time,
// or a moment before it; all times of the attempt count from there.
func (a *attempt) begin(now time.Duration) {
	limit := min(a.call.q.cfg.Timeout, a.call.arrived+a.call.q.cfg.Stay()-now)
	if limit <= 0 {
		// A release that waited too long is carried out all the same (V7).
		limit = a.call.q.cfg.Timeout
	}
	a.nameShared = a.call.db.keys.open(a)
	if a.op.ends() {
		a.term = a.call.db.keys.termOf(a.call, a.op.Key)
	}
	a.mu.Lock()
	a.pending = 1
	a.times.began, a.times.until = now, now+limit
	if a.harmsIfLate() && !a.call.delayAnswer() && a.op.Kind != Remove {
		a.end(Undecided, now)
		return
	}
	a.call.q.deadlines.add(&a.due, a.times.until, now)
	for i := range a.box.ballots {
		if a.box.first >= 0 && i != a.box.first {
			a.box.ballots[i].Vote = vote.Unasked
		}
	}
	which := ^uint16(0)
	if a.box.first >= 0 {
		which = 1 << a.box.first
	}
	a.asking = true
	a.mu.Unlock()
	a.ask(now, which)
}

// ask sends the operation to some masters, given as bits, and counts those that cannot
// be asked now as silent. asking must be set already.
func (a *attempt) ask(now time.Duration, which uint16) {
	var unsent uint16
	for i, l := range a.masters.Links {
		if which>>i&1 != 0 && !l.Ask(a, i, now) {
			unsent |= 1 << i
		}
	}
	a.mu.Lock()
	a.asking = false
	a.box.unsent |= unsent
	for i := range a.box.ballots {
		if unsent>>i&1 != 0 && a.box.ballots[i].Vote == vote.Awaited {
			a.box.ballots[i].Vote = vote.Silent
		}
	}
	a.decide(now)
}

// Prepare makes the task for one master. It returns false if the time on the master's
// clock is not known well enough, or no name is free there. The caller holds the link's
// mutex ([cluster.Preparer]).
func (a *attempt) Prepare(i int, l cluster.Locked, now time.Duration) (*outbox.Task, bool) {
	t := &a.tasks[i]
	*t = outbox.Task{Kind: a.op.Kind, Asked: &a.asked, Index: uint8(i), Key: a.op.Key, Token: a.op.Token}
	if m := l.View().Under; m != nil {
		t.Mark = m.ID
	}
	t.Limits = a.limits(i, l)
	switch a.op.Kind {
	case Read:
		return t, true
	case Release:
		t.Until = a.times.began + a.call.q.cluster.LongestHold()
		return t, true
	}
	latest, ok := l.Latest(a.mark, now)
	if !ok {
		return t, false
	}
	t.Deadline, t.Clears = l.Deadline(a.times.until), a.op.clears
	if a.asked.Raises || a.asked.Renews || a.op.Kind == transact {
		t.Longest = cluster.ExpiryOf(latest, l.GreatestHold(), l.ProlongsTo(now))
	}
	if a.op.Kind == transact {
		return t, a.nameSteps(i, l, latest, now)
	}
	t.Prolongs = cluster.ExpiryOf(latest, a.hold, l.ProlongsTo(now))
	if a.namesCopies {
		t.Was = a.earlierNames(a.masters.Links[i])
		t.Expiry, ok = a.nameOf(i, l, lockName{a.op.Key, a.op.Token}, latest, a.hold, now)
	}
	return t, ok
}

// nameSteps gives the steps of a transact their expiries. The caller must hold the
// link's mu.
func (a *attempt) nameSteps(i int, l cluster.Locked, latest int64, now time.Duration) bool {
	t := &a.tasks[i]
	for k := range a.op.steps {
		e, ok := int64(0), true
		switch s := &a.op.steps[k]; {
		case s.Creates():
			e, ok = a.nameOf(i, l, lockName{s.Key, s.Token}, latest, s.Hold, now)
		case s.Does == outbox.Stores:
			e = cluster.ExpiryOf(latest, s.Hold, l.ProlongsTo(now))
		}
		if !ok {
			return false
		}
		t.Expiries = append(t.Expiries, e)
	}
	return true
}

// nameOf returns the expiry that names the attempt on a master; false if none is free.
// It bears this redlockd's residue, and no open attempt, no lock that may live and no
// rollback that is to be repeated, waits or is under way has it. The caller must hold
// the link's mu.
func (a *attempt) nameOf(i int, l cluster.Locked, n lockName, latest int64, hold, now time.Duration) (int64, bool) {
	own, ok := l.Residue(now)
	e := cluster.ExpiryOf(latest, hold, own)
	// No attempt is opened meanwhile: those on one key begin one after the other.
	for tries := 0; a.nameShared && a.call.db.keys.taken(a, n, a.masters.Links[i], e) || l.Outbox().RollbackPending(n.key, n.token, e); tries++ {
		if tries >= cluster.MaxNames && !l.View().RecordsHold(e-latest) {
			return 0, false
		}
		e += mark.Residues
	}
	return e, ok
}

// GoesOut is called right before a task is written, with the link's mutex held
// ([outbox.Asker]): false drops the task, since the attempt is lost or the vote would
// come late. If the attempt is won already, the task is still sent, since a lock is
// safer the more masters have it, but not if it might do harm after the client was
// answered.
func (a *attempt) GoesOut(i int, now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := &a.tasks[i]; a.noLock && a.op.Kind == Extend && t.Limit().Ends() {
		// It prolongs nothing any more, but what is left goes.
		t.Clears = true
		a.box.sent |= 1 << i
		a.pending++
		return true
	}
	if a.unwanted || now > a.times.until || a.over && (a.op.Kind == Read || a.harmsIfLate()) {
		return false
	}
	a.box.sent |= 1 << i
	a.pending++
	return true
}

// askOthers asks the other masters once the first one has granted (V5). The caller must
// hold mu; askOthers releases it.
func (a *attempt) askOthers(now time.Duration) {
	for i := range a.box.ballots {
		if a.box.ballots[i].Vote == vote.Unasked {
			a.box.ballots[i].Vote = vote.Awaited
		}
	}
	a.asking = true
	a.mu.Unlock()
	a.ask(now, ^uint16(1<<a.box.first))
}

// limits returns the limits below which copies on one master are over. They count from
// when the operation reached this redlockd, since its client cannot have sent it later.
// It is nil in the usual case, where the client may still count on its lock. What deletes
// copies unasked allows for a client whose clock is slower than ours (V15).
func (a *attempt) limits(i int, l cluster.Locked) *outbox.Limits {
	if !a.op.ends() {
		return nil
	}
	known := a.term.knows(a.masters) && a.term.isOf(a.op)
	lives := known && !a.term.over(a.call.arrived)
	if known && a.op.deletesUnasked() {
		lives = a.term.mayLast(a.call.arrived, a.call.q.cfg)
	}
	if lives && a.op.Kind != Read {
		return nil
	}
	out := &outbox.Limits{Any: l.LapsedBy(a.call.arrived, a.call.q.cfg.Unused(a.call.q.agreed.ReadPadding(), a.call.q.agreed.Greatest().Timeout))}
	if now := a.call.q.now(); known && !lives {
		out.OfToken, out.Token = a.term.given(a.masters, i), a.term.token
		out.OfToken = slices.DeleteFunc(out.OfToken, func(e int64) bool { return l.MayBeOthers(e, now) })
	}
	return out
}

// deletesUnasked reports whether the operation deletes a lock that is over, though it was not sent
// to delete anything.
func (op *Op) deletesUnasked() bool {
	return op.ends() && op.Kind != Read && op.Kind != Release && op.Kind != Remove
}

// ends reports whether the operation's answer depends on whether a lock is over.
func (op *Op) ends() bool {
	switch op.Kind {
	case Read, AcquireOrExtend, Release, Extend, Remove, Expire:
		return true
	case Store:
		return op.IfPresent
	default:
		return false
	}
}

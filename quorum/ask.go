package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// begin sends the operation to all masters, or to the first one alone. now is
// the time, or one a moment before it: everything is counted from there.
func (a *attempt) begin(now time.Duration) {
	limit := min(a.call.q.cfg.Timeout, a.call.arrived+a.call.q.cfg.Stay()-now)
	if limit <= 0 {
		// A release that outstayed is carried out all the same (V7).
		limit = a.call.q.cfg.Timeout
	}
	a.others = a.call.db.keys.open(a)
	if a.op.ends() {
		a.term = a.call.db.keys.termOf(a.call, a.op.Key)
	}
	a.mu.Lock()
	a.pending = 1
	a.times.began, a.times.until = now, now+limit
	if a.waits() && !a.call.mayAct() && a.op.Kind != Remove {
		a.end(Undecided, now)
		return
	}
	a.call.q.deadlines.add(&a.due, a.times.until, now)
	for i := range a.box.ballots {
		if a.box.first >= 0 && i != a.box.first {
			a.box.ballots[i].Vote = vote.Unasked
		}
	}
	which := ^uint32(0)
	if a.box.first >= 0 {
		which = 1 << a.box.first
	}
	a.asking = true
	a.mu.Unlock()
	a.ask(now, which)
}

// ask sends the operation to some masters, given as bits, and takes those that
// are silent at once for silent. asking is set already.
func (a *attempt) ask(now time.Duration, which uint32) {
	var unsent uint32
	for i, l := range a.masters.Links {
		if which>>i&1 != 0 && !l.Ask(a, i, now) {
			unsent |= 1 << i
		}
	}
	a.mu.Lock()
	a.asking = false
	for i := range a.box.ballots {
		if unsent>>i&1 != 0 && a.box.ballots[i].Vote == vote.Awaited {
			a.box.ballots[i].Vote = vote.Silent
		}
	}
	a.decide(now)
}

// Prepare makes the task for one master, and returns false where the time on
// its clock is not known well enough, or no name for it is free. It is called with the
// link's mutex held ([cluster.Preparer]).
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
	t.Deadline = l.Deadline(a.times.until)
	if a.op.Kind == transact {
		return t, a.nameSteps(i, l, latest, now)
	}
	t.Prolongs = cluster.ExpiryOf(latest, a.hold, 0)
	if a.names && a.op.renews != nil {
		t.Was = a.op.renews.expiryOf(lockName{a.op.Key, a.op.Token}, a.masters.Links[i])
	}
	if a.names {
		t.Expiry, ok = a.nameOf(i, l, lockName{a.op.Key, a.op.Token}, latest, a.hold, now)
	}
	return t, ok
}

// nameSteps gives the steps of a transact their expiries. Needs the link's mu.
func (a *attempt) nameSteps(i int, l cluster.Locked, latest int64, now time.Duration) bool {
	t := &a.tasks[i]
	for k := range a.op.steps {
		e, ok := int64(0), true
		switch s := &a.op.steps[k]; {
		case s.Creates():
			e, ok = a.nameOf(i, l, lockName{s.Key, s.Token}, latest, s.Hold, now)
		case s.Hold > 0:
			e = cluster.ExpiryOf(latest, s.Hold, 0)
		}
		if !ok {
			return false
		}
		t.Expiries = append(t.Expiries, e)
	}
	return true
}

// nameOf is the expiry that names the attempt on a master: one of this redlockd's
// that no open attempt has and no lock that may live, and that no rollback names
// which waits to be repeated or is under way; false where none is free. Needs the
// link's mu.
func (a *attempt) nameOf(i int, l cluster.Locked, n lockName, latest int64, hold, now time.Duration) (int64, bool) {
	own, ok := l.Residue(now)
	e := cluster.ExpiryOf(latest, hold, own)
	// No more are opened meanwhile: those on one key begin one after the other.
	for tries := 0; a.others && a.call.db.keys.taken(a, n, a.masters.Links[i], e) || l.Outbox().RollbackPending(n.key, n.token, e); tries++ {
		if tries >= cluster.MaxNames && !l.View().BearsFor(e-latest) {
			return 0, false
		}
		e += mark.Residues
	}
	return e, ok
}

// GoesOut is asked right before a task is written, with the link's mutex held
// ([outbox.Asker]): false drops it, since it is lost, or would come late. What is won
// without it still goes out, since a lock is the safer the more masters have it; but not
// what may do harm there after its client was told.
func (a *attempt) GoesOut(i int, now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := &a.tasks[i]; a.gone && a.op.Kind == Extend && t.Limit().Ends() {
		// It prolongs nothing any more, but what is left goes.
		t.Clears = true
		a.box.sent |= 1 << i
		a.pending++
		return true
	}
	if a.lost || now > a.times.until || a.over && (a.op.Kind == Read || a.waits()) {
		return false
	}
	a.box.sent |= 1 << i
	a.pending++
	return true
}

// askOthers goes on when the first master has granted (V5). It is entered
// with the mutex held and leaves it free.
func (a *attempt) askOthers(now time.Duration) {
	for i := range a.box.ballots {
		if a.box.ballots[i].Vote == vote.Unasked {
			a.box.ballots[i].Vote = vote.Awaited
		}
	}
	a.asking = true
	a.mu.Unlock()
	a.ask(now, ^uint32(1<<a.box.first))
}

// limits are those of the attempt's operation on one master, counted from when
// it came to this redlockd, since its client could not send it later; nil in the
// usual case, where the client counts on its lock.
func (a *attempt) limits(i int, l cluster.Locked) *outbox.Limits {
	if !a.op.ends() {
		return nil
	}
	named := a.op.Kind == Release || a.op.Kind == Extend || a.op.Kind == AcquireOrExtend
	told := a.term.knows(a.masters) && (!named || a.term.token == a.op.Token)
	lives := told && !a.term.over(a.call.arrived)
	if lives && a.op.Kind != Read {
		return nil
	}
	out := &outbox.Limits{Any: l.LapsedBy(a.call.arrived, a.call.q.cfg.Unused(a.call.q.agreed.ReadPadding(), a.call.q.agreed.Greatest().Timeout))}
	if told && !lives {
		out.Told, out.Token = a.term.expiry(a.masters, i), a.term.token
	}
	return out
}

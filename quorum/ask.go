package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/tail"
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
	a.mu.Lock()
	a.times.began, a.times.until = now, now+limit
	if a.harmsIfLate() && !a.call.delayAnswer() && a.op.Kind != Remove {
		a.end(Undecided, now)
		return
	}
	a.call.q.deadlines.add(&a.due, a.times.until, now)
	which := ^uint16(0)
	if first := a.box.first; first >= 0 {
		which = 1 << first
		for i := range a.box.ballots {
			a.box.ballots[i].Vote = vote.Unasked
		}
		a.box.ballots[first].Vote = vote.Awaited
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
// clock is not known well enough. The caller holds the link's mutex ([cluster.Preparer]).
func (a *attempt) Prepare(i int, l cluster.Locked, now time.Duration) (*outbox.Task, bool) {
	t := &a.tasks[i]
	*t = outbox.Task{Kind: a.op.Kind, Asked: &a.asked, Index: uint8(i), Effects: a.effects}
	if a.op.Kind == Read || a.op.Kind == Release && !a.harmsIfLate() {
		return t, true
	}
	earliest, latest, ok := l.Clock(a.mark, now)
	if !ok {
		return t, false
	}
	if a.op.Kind != Acquire { // an acquire has no deadline
		t.Deadline = l.Deadline(a.times.until)
	}
	n := len(a.effects)
	t.Copies = a.copies[i*n : (i+1)*n]
	for k := range a.effects {
		e, lock := &a.effects[k], a.lock
		if e.Creates() {
			lock = a.id
		}
		if e.Gives() {
			t.Copies[k] = a.call.q.cfg.CopyOf(tail.Tail{Lock: lock, Attempt: a.id}, e.TTL, e.Hold, earliest, latest)
		}
	}
	return t, true
}

// GoesOut is called right before a task is written, with the link's mutex held
// ([outbox.Asker]): false drops the task, since the attempt is lost or the vote would
// come late. If the attempt is won already, the task is still sent, since a lock is
// safer the more masters have it, but not if it might do harm after the client was
// answered. A release that would do none is sent whatever the others have answered.
func (a *attempt) GoesOut(i int, now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.op.Kind != Release && a.unwanted || now > a.times.until || a.over && (a.op.Kind == Read || a.harmsIfLate()) {
		return false
	}
	a.box.sent |= 1 << i
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

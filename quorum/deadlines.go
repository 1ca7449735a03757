package quorum

import (
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// deadlines ends the attempts whose time is over, all with one timer: nearly
// every attempt ends long before, and a timer each would cost more than its
// votes. They are in the order of their times, and as most have the same
// timeout, a new one goes behind the others. Safe for concurrent use.
type deadlines struct {
	now clock.Clock

	mu          sync.Mutex
	first, last *attempt
	timer       *time.Timer
	// armed is when the timer fires; 0 when it does not.
	armed time.Duration
}

// due is an attempt's place among the deadlines, guarded by them.
type due struct {
	at           time.Duration
	listed       bool
	before, next *attempt
}

// add sees to it that timeout is called at a time, if the attempt is not
// removed before.
func (d *deadlines) add(a *attempt, at, now time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.last
	for before != nil && before.due.at > at {
		before = before.due.before
	}
	a.due = due{at: at, listed: true, before: before}
	if before != nil {
		a.due.next, before.due.next = before.due.next, a
	} else {
		a.due.next, d.first = d.first, a
	}
	if next := a.due.next; next != nil {
		next.due.before = a
	} else {
		d.last = a
	}
	d.arm(now)
}

// arm sets the timer for the first. Needs mu.
func (d *deadlines) arm(now time.Duration) {
	if d.first == nil || d.armed != 0 && d.armed <= d.first.due.at {
		return
	}
	d.armed = d.first.due.at
	if wait := d.armed - now; d.timer == nil {
		d.timer = time.AfterFunc(wait, d.fire)
	} else {
		d.timer.Reset(wait)
	}
}

// remove forgets an attempt. The timer may fire for nothing later.
func (d *deadlines) remove(a *attempt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unlist(a)
}

// unlist needs mu.
func (d *deadlines) unlist(a *attempt) {
	if !a.due.listed {
		return
	}
	before, next := a.due.before, a.due.next
	if before != nil {
		before.due.next = next
	} else {
		d.first = next
	}
	if next != nil {
		next.due.before = before
	} else {
		d.last = before
	}
	a.due = due{}
}

// fire ends what is over.
func (d *deadlines) fire() {
	now := d.now()
	var over []*attempt
	d.mu.Lock()
	for a := d.first; a != nil && a.due.at <= now; a = d.first {
		d.unlist(a)
		over = append(over, a)
	}
	d.armed = 0
	d.arm(now)
	d.mu.Unlock()
	for _, a := range over {
		a.timeout()
	}
}

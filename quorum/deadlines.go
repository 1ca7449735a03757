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
	first, last *due
	timer       *time.Timer
	// armed is when the timer fires; 0 when it does not.
	armed time.Duration
}

// timeouter is an attempt: timeout is called when its time is over.
type timeouter interface{ timeout() }

// due is an attempt's place among the deadlines, guarded by them.
type due struct {
	of           timeouter
	at           time.Duration
	listed       bool
	before, next *due
}

// add sees to it that timeout is called at a time, if the attempt is not
// removed before.
func (d *deadlines) add(a *due, at, now time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.last
	for before != nil && before.at > at {
		before = before.before
	}
	a.at, a.listed, a.before = at, true, before
	if before != nil {
		a.next, before.next = before.next, a
	} else {
		a.next, d.first = d.first, a
	}
	if a.next != nil {
		a.next.before = a
	} else {
		d.last = a
	}
	d.arm(now)
}

// arm sets the timer for the first. Needs mu.
func (d *deadlines) arm(now time.Duration) {
	if d.first == nil || d.armed != 0 && d.armed <= d.first.at {
		return
	}
	d.armed = d.first.at
	if wait := d.armed - now; d.timer == nil {
		d.timer = time.AfterFunc(wait, d.fire)
	} else {
		d.timer.Reset(wait)
	}
}

// remove forgets an attempt. The timer may fire for nothing later.
func (d *deadlines) remove(a *due) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unlist(a)
}

// unlist needs mu.
func (d *deadlines) unlist(a *due) {
	if !a.listed {
		return
	}
	if a.before != nil {
		a.before.next = a.next
	} else {
		d.first = a.next
	}
	if a.next != nil {
		a.next.before = a.before
	} else {
		d.last = a.before
	}
	a.listed, a.before, a.next = false, nil, nil
}

// fire ends what is over.
func (d *deadlines) fire() {
	now := d.now()
	var over []*due
	d.mu.Lock()
	for a := d.first; a != nil && a.at <= now; a = d.first {
		d.unlist(a)
		over = append(over, a)
	}
	d.armed = 0
	d.arm(now)
	d.mu.Unlock()
	for _, a := range over {
		a.of.timeout()
	}
}

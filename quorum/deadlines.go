package quorum

import (
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// deadlines ends the attempts whose time is over, all with one timer: nearly every
// attempt ends long before, and a timer each would cost more than its votes. The
// attempts are listed in the order of their times. Since most have the same timeout, a
// new one goes to the end. Safe for concurrent use.
type deadlines struct {
	now clock.Clock

	mu          sync.Mutex
	first, last *due
	timer       *time.Timer
	// armed is when the timer fires; 0 if it is not set.
	armed time.Duration
}

// timeouter is an attempt; timeout is called when its time is over.
type timeouter interface{ timeout() }

// due is an attempt's entry in the deadlines, whose mu guards it.
type due struct {
	of           timeouter
	at           time.Duration
	listed       bool
	before, next *due
}

// add has timeout called at the time at, unless the attempt is removed before.
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

// arm sets the timer for the first attempt. The caller must hold mu.
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

// remove forgets an attempt. The timer may fire without need later.
func (d *deadlines) remove(a *due) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unlist(a)
}

// unlist takes an attempt out of the list. The caller must hold mu.
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

// fire calls timeout for the attempts whose time is over.
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

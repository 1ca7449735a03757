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

	mu sync.Mutex
	// ring is before the first attempt and behind the last one.
	ring  due
	timer *time.Timer
	// armed is when the timer fires; 0 if it is not set.
	armed time.Duration
}

// due is an attempt's entry in the deadlines, whose mu guards it.
type due struct {
	of *attempt
	at time.Duration
	// before and next are nil for an attempt that is not listed.
	before, next *due
}

func (d *deadlines) init(now clock.Clock) { d.now, d.ring.before, d.ring.next = now, &d.ring, &d.ring }

// add has timeout called at the time at, unless the attempt is removed before.
func (d *deadlines) add(a *due, at, now time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.ring.before
	for before != &d.ring && before.at > at {
		before = before.before
	}
	a.at, a.before, a.next = at, before, before.next
	a.before.next, a.next.before = a, a
	d.arm(now)
}

// arm sets the timer for the first attempt. The caller must hold mu.
func (d *deadlines) arm(now time.Duration) {
	first := d.ring.next
	if first == &d.ring || d.armed != 0 && d.armed <= first.at {
		return
	}
	d.armed = first.at
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
	if a.next != nil {
		a.before.next, a.next.before = a.next, a.before
		a.before, a.next = nil, nil
	}
}

// fire calls timeout for the attempts whose time is over.
func (d *deadlines) fire() {
	now := d.now()
	var over []*due
	d.mu.Lock()
	for a := d.ring.next; a != &d.ring && a.at <= now; a = d.ring.next {
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

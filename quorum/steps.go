package quorum

import (
	"time"
)

// Redis expires locks by its wall clock, so a clock that steps ends or
// prolongs all of them (M5). Every look is compared with those of the last
// greatest hold; what does not fit voids the votes at once, and the monitor
// finds out what its cause was.

// sawClock takes a look at the master's clock, in microseconds, and returns
// whether it fits to those of before. Needs mu.
func (l *link) sawClock(micros int64, sent, received time.Duration) bool {
	if sent < l.from {
		return false
	}
	l.looked = received
	n := newOffset(micros, sent, received)
	if l.rebase || l.embedded {
		// An embedded master's clock is our own.
		l.rebase, l.sure, l.based = false, never, received
		l.offsets.rebase(n)
	}
	l.needBaseline(n)
	if !l.offsets.within(n) {
		l.jump = l.offsets.jumped(n)
		if l.stepped == 0 {
			l.stepped = received
			l.wakeMonitor()
		}
		return false
	}
	keep := l.db.agreed.greatest().hold
	if l.under != nil {
		keep = max(l.under.greatest, time.Second)
	}
	l.offsets.add(n, keep)
	if received-sent <= l.cfg.Timeout {
		// A slower one would tell too little about the clock, and who answers
		// so has no vote either.
		l.looks.add((micros+999)/1000, sent, received)
		l.sure = sent
	}
	return true
}

// newBaseline has the next look begin a new baseline. What is under way went out
// before it was known how the clock stands, so it counts for nothing. Needs mu.
func (l *link) newBaseline() {
	l.rebase, l.from, l.stepped, l.looks = true, l.now(), 0, looks{drift: l.cfg.ClockDrift}
}

// stepCause is what a step turned out to be.
type stepCause uint8

const (
	noStep      stepCause = iota // there was none
	unclearStep                  // not all masters have been looked at since
	masterStep                   // this master's clock has stepped
	ownPause                     // a quorum jumped by the same time: our own pause
)

// causeOf finds out, for one master that may have stepped.
func (d *database) causeOf(l *link) stepCause {
	l.mu.Lock()
	at, by := l.stepped, l.jump
	l.mu.Unlock()
	if at == 0 {
		return noStep
	}
	together, waiting := 0, false
	for _, other := range d.list().links {
		other.mu.Lock()
		switch {
		case other.stepped != 0:
			if other.jump.same(by) {
				together++
			}
		case other.open && other.looked <= at && !other.frozen():
			waiting = true
			other.wakeMonitor()
		}
		other.mu.Unlock()
	}
	switch {
	case waiting:
		return unclearStep
	case together >= d.list().quorum:
		return ownPause
	default:
		return masterStep
	}
}

// stoodStill draws all lines anew, and grants nothing until all locks of
// before are over: nobody can tell a step of a quorum by the same time as that
// of first from our own pause. The marks are not touched, so other redlockd
// serve on. A clock that jumped by another time has stepped besides, and its
// monitor says so.
func (d *database) stoodStill(first *link) {
	wait := d.wholeHold(0)
	first.mu.Lock()
	by := first.jump
	first.mu.Unlock()
	for _, l := range d.list().links {
		l.mu.Lock()
		jumped := l.stepped != 0 && l.jump.same(by)
		if l.stepped == 0 || jumped {
			l.newBaseline()
		}
		l.mu.Unlock()
		if jumped {
			l.doubt(wait)
		}
		l.wakeMonitor()
	}
	d.silentUntil.Store(int64(d.now() + wait))
	d.list().links[0].log.Warn("the clocks of a majority jumped together, or this redlockd stood still: it grants nothing for a while",
		"wait", wait.String())
}

// doubt has the mark of a master say that its clock may have stepped together
// with others, for those who start meanwhile and cannot tell (M5). Whoever can
// tell that it has not takes the doubt back.
func (l *link) doubt(wait time.Duration) {
	if l.zero != nil {
		l = l.zero
	}
	l.mu.Lock()
	l.memory.doubt = max(l.memory.doubt, wait)
	l.mu.Unlock()
	l.wakeMonitor()
}

// silentFor is how much longer this redlockd grants nothing. What database 0
// has seen holds for one that is used for the first time since, and knows the
// clocks by new baselines.
func (d *database) silentFor(now time.Duration) time.Duration {
	left := max(0, time.Duration(d.silentUntil.Load())-now)
	if d.zero != nil {
		left = max(left, d.zero.silentFor(now))
	}
	return left
}

func errStoodStill(left time.Duration) error {
	return undecided(noQuorumStill, wholeSeconds(left))
}

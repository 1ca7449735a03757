package quorum

import (
	"fmt"
	"time"
)

// Redis expires locks by its wall clock, so a clock that steps ends or
// prolongs all of them (M5). Every look is compared with those of the last
// greatest hold; what does not fit voids the votes at once, and the keeper
// finds out whose step it was.

// sawClock takes a look at the master's clock, in microseconds, and returns
// whether it fits to those of before. Needs mu.
func (l *lane) sawClock(micros int64, sent, received time.Duration) bool {
	l.looked = received
	n := newOffset(micros, sent, received)
	if l.redraw || l.embedded {
		// An embedded master's clock is our own.
		l.redraw = false
		l.offsets.redraw(n)
	}
	if !l.offsets.within(n) {
		if l.stepped == 0 {
			l.stepped = received
			l.wakeKeeper()
		}
		return false
	}
	keep := l.cfg.hold(l.cfg.MaxTTL)
	if l.under != nil {
		keep = max(l.under.greatest, time.Second)
	}
	l.offsets.add(n, keep)
	if received-sent <= l.cfg.Timeout {
		// A slower one would tell too little about the clock, and who answers
		// so has no vote either.
		l.looks.add((micros+999)/1000, sent, received)
	}
	return true
}

// whose is what a step turned out to be.
type whose uint8

const (
	nobodys  whose = iota // there was none
	unclear               // not all masters have been looked at since
	masters               // this master's clock has stepped
	ourPause              // a quorum jumped together: our own pause
)

// whoseStep finds out, for one master that may have stepped.
func (d *database) whoseStep(l *lane) whose {
	l.mu.Lock()
	at := l.stepped
	l.mu.Unlock()
	if at == 0 {
		return nobodys
	}
	together, waiting := 0, false
	for _, other := range d.list().lanes {
		other.mu.Lock()
		switch {
		case other.stepped != 0:
			together++
		case other.open && other.looked <= at && !other.frozen():
			waiting = true
			other.wakeKeeper()
		}
		other.mu.Unlock()
	}
	switch {
	case together >= d.list().quorum:
		return ourPause
	case waiting:
		return unclear
	default:
		return masters
	}
}

// stoodStill draws all lines anew, and grants nothing until all locks of
// before are over: nobody can tell a step of a quorum from our own pause. The
// marks are not touched, so other redlockd serve on.
func (d *database) stoodStill() {
	_, wait := d.greatestHold(nil)
	for _, l := range d.list().lanes {
		l.mu.Lock()
		l.redraw, l.stepped, l.looks = true, 0, looks{drift: d.cfg.ClockDrift}
		l.mu.Unlock()
		l.wakeKeeper()
	}
	d.silentUntil.Store(int64(d.now() + wait))
	d.list().lanes[0].log.Warn("the clocks of a majority jumped together, or this redlockd stood still: it grants nothing for a while",
		"wait", wait.String())
}

// silent is how much longer this redlockd grants nothing.
func (d *database) silentFor(now time.Duration) time.Duration {
	return max(0, time.Duration(d.silentUntil.Load())-now)
}

func errStoodStill(left time.Duration) error {
	return fmt.Errorf("NOQUORUM the clocks of a majority jumped together, or redlockd stood still: "+
		"it grants nothing for %v, others do", wholeSeconds(left))
}

package quorum

import (
	"fmt"
	"slices"
	"strings"
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
	if len(l.offsets.entries) == 0 && l.zero != nil {
		l.offsets = l.zero.line()
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

// line is a copy of what is remembered of the clock.
func (l *lane) line() offsets {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.offsets
	o.entries = slices.Clone(o.entries)
	return o
}

// A redlockd that has just started has no line to compare a clock with, and one
// that has not seen a master for long has a line of little use: so much may the
// clock have drifted. Those who watched it have a good one, and tell of a step
// in the mark, within a second and some round trips. So long the master does
// not vote here.

// whySettling is why it does not.
const whySettling = "its clock is being watched"

// meet notes, when a connection is greeted by the look s, when the clock
// settles: at once where no other redlockd is connected to the master, which
// could have seen a step, or where our own line is good enough to see what the
// padding of holds does not cover. before is when we had looked before.
func (l *lane) meet(c *connection, s sight, before time.Duration) error {
	settles := l.whenSettles()
	if settles == 0 && l.zero != nil {
		settles = l.zero.whenSettles()
	}
	drifted := float64(s.sent-before) * l.cfg.ClockDrift
	if settles == 0 || before != 0 && drifted > float64(l.cfg.Timeout) {
		others, err := l.hasOthers(c, s)
		if err != nil {
			return err
		}
		settles = s.sent
		if others {
			settles += l.cfg.settling()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settles, l.settled = settles, l.settled && settles <= s.sent
	return nil
}

func (l *lane) lastLooked() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.looked
}

// hasOthers is whether another redlockd is connected to the master, as far as
// can be told: without the right to list them any connection may be one.
func (l *lane) hasOthers(c *connection, s sight) (bool, error) {
	r := c.ask(c.client.B().ClientList().Build())[0]
	if err := r.Error(); broken(err) {
		return false, err
	}
	list, err := r.ToString()
	if err != nil {
		return s.server.clients > 1, nil
	}
	for line := range strings.Lines(list) {
		if strings.Contains(line, " name="+clientName+" ") && !strings.HasPrefix(line, "id="+itoa(c.id)+" ") {
			return true, nil
		}
	}
	return false, nil
}

func (l *lane) whenSettles() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.settles
}

// settling is how much longer the clock settles, after a look at the mark; 0
// where it has.
func (l *lane) settling(s sight) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.settled = l.settled || s.sent >= l.settles; l.settled {
		return 0
	}
	return max(l.settles-l.now(), time.Millisecond)
}

// lookAgain is when the keeper looks again, if nothing wakes it before.
func (l *lane) lookAgain() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.settled {
		return lookEvery
	}
	return min(lookEvery, max(lookPause, l.settles-l.now()))
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

// silentFor is how much longer this redlockd grants nothing. What database 0
// has seen holds for one that is used for the first time since, and knows the
// clocks by lines that were drawn anew.
func (d *database) silentFor(now time.Duration) time.Duration {
	left := max(0, time.Duration(d.silentUntil.Load())-now)
	if d.zero != nil {
		left = max(left, d.zero.silentFor(now))
	}
	return left
}

func errStoodStill(left time.Duration) error {
	return fmt.Errorf("NOQUORUM the clocks of a majority jumped together, or redlockd stood still: "+
		"it grants nothing for %v, others do", wholeSeconds(left))
}

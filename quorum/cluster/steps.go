package cluster

import "time"

// stepCause is what a step turned out to be.
type stepCause uint8

const (
	noStep      stepCause = iota // there was none
	unclearStep                  // not all masters have been looked at since
	masterStep                   // this master's clock has stepped
	ownPause                     // a quorum jumped by the same time: our own pause
)

// causeOf finds out, for one master that may have stepped.
func (d *Database) causeOf(l *Link) stepCause {
	at, by := l.clock.Stepped()
	if at == 0 {
		return noStep
	}
	together, waiting := 0, false
	for _, other := range d.List().Links {
		other.mu.Lock()
		stepped, jumped := other.clock.Stepped()
		switch {
		case stepped != 0:
			if jumped.Same(by) {
				together++
			}
		case other.open && other.clock.LookedAt() <= at && !other.frozen(other.now()):
			waiting = true
			other.wakeMonitor()
		}
		other.mu.Unlock()
	}
	switch {
	case waiting:
		return unclearStep
	case together >= d.List().Quorum:
		return ownPause
	default:
		return masterStep
	}
}

// Silence is how much longer this redlockd grants nothing (M5).
func (d *Database) Silence() time.Duration { return d.silentFor(d.now()) }

// stoodStill draws all lines anew, and grants nothing until all locks of
// before are over: nobody can tell a step of a quorum by the same time as that
// of first from our own pause. The marks are not touched, so other redlockd
// serve on. A clock that jumped by another time has stepped besides, and its
// monitor says so.
func (d *Database) stoodStill(first *Link) {
	wait := d.wholeHold(0)
	_, by := first.clock.Stepped()
	for _, l := range d.List().Links {
		l.mu.Lock()
		jumped := l.clock.BeginAgain(by)
		l.mu.Unlock()
		if jumped {
			doubt(l, wait)
		}
		l.wakeMonitor()
	}
	d.silentUntil.Store(int64(d.now() + wait))
	d.List().Links[0].log.Warn("the clocks of a majority jumped together, or this redlockd stood still: it grants nothing for a while",
		"wait", wait.String())
}

// silentFor is how much longer this redlockd grants nothing. What database 0
// has seen holds for one that is used for the first time since, and knows the
// clocks by new baselines.
func (d *Database) silentFor(now time.Duration) time.Duration {
	left := max(0, time.Duration(d.silentUntil.Load())-now)
	if d.zero != nil {
		left = max(left, d.zero.silentFor(now))
	}
	return left
}

// doubt has the mark of a master say that its clock may have stepped together
// with others, for those who start meanwhile and cannot tell (M5). Whoever can
// tell that it has not takes the doubt back.
func doubt(l *Link, wait time.Duration) {
	if l.zero != nil {
		l = l.zero
	}
	l.mu.Lock()
	l.view.Memory.Doubt = max(l.view.Memory.Doubt, wait)
	l.mu.Unlock()
	l.wakeMonitor()
}

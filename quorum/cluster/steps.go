package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// stepCause is the cause of a step.
type stepCause uint8

const (
	noStep      stepCause = iota // no step was seen
	unclearStep                  // not all masters have been looked at since the step
	masterStep                   // this master's clock has stepped
	ownPause                     // a quorum jumped by the same time, or may have: our own pause
)

// handleStep returns the cause for a master whose clock may have stepped. If that was our own
// pause, nothing is granted for a while. One monitor does so at a time: to another one, the
// new baselines of stoodStill would look as if only its own master had stepped.
func (d *Database) handleStep(l *Link) stepCause {
	d.steps.Lock()
	defer d.steps.Unlock()
	cause := d.causeOf(l)
	if cause == ownPause {
		d.stoodStill(l)
	}
	return cause
}

// causeOf finds the cause for a master whose clock may have stepped.
func (d *Database) causeOf(l *Link) stepCause {
	at, by := l.clock.Stepped()
	if at == 0 {
		return noStep
	}
	together, steady, unseen, waiting := 0, 0, 0, false
	d.List().each(func(other *Link) {
		stepped, jumped := other.clock.Stepped()
		switch {
		case stepped != 0:
			if jumped.Same(by) {
				together++
			}
		case other.open && other.clock.LookedAt() <= at && !other.frozen(other.now()):
			waiting = true
			other.wakeMonitor()
		case other.clock.LookedAt() <= at:
			unseen++
		default:
			steady++
		}
	})
	switch {
	case waiting:
		return unclearStep
	case together >= d.List().Quorum:
		return ownPause
	case steady == 0 && together+unseen >= d.List().Quorum:
		return ownPause // which may have broken the connections to the others
	default:
		return masterStep
	}
}

// Silence returns how much longer this redlockd grants nothing (M5).
func (d *Database) Silence() time.Duration { return d.silentFor(d.now()) }

// stoodStill begins a new baseline for every clock, and grants nothing until all earlier
// locks are over: a quorum jumped by the same time as first, and nobody can tell whether
// their clocks stepped or this redlockd paused. The marks stay real, so redlockd that can
// tell go on serving. A clock that jumped by another time has stepped besides, and its
// own monitor handles that. Of one that was not seen since, nobody can tell either.
func (d *Database) stoodStill(first *Link) {
	wait := d.silenceAfter(0).wait
	at, by := first.clock.Stepped()
	// Before any baseline: by the new one, a batch that goes out now may count. The wait may be far
	// too long: what was granted before shows only once enough marks are in view (jumpedBefore).
	d.jumpedAt = d.now()
	d.silentUntil.Store(int64(d.jumpedAt + wait))
	for _, l := range d.List().Links {
		l.mu.Lock()
		unseen := l.clock.LookedAt() <= at
		jumped := l.clock.BeginAgain(by) || unseen
		l.mu.Unlock()
		if jumped {
			l.doubt(wait)
		}
		l.wakeMonitor()
	}
	d.List().Links[0].log.Warn("the clocks of a majority jumped together, or this redlockd stood still: it grants nothing for a while",
		"wait", wait.String())
}

// silenceAfter is holdSince of all masters, but waits no longer than for the hold of max_ttl:
// the marks have holds rounded up, to more than twice as long.
func (d *Database) silenceAfter(jump time.Duration) granted {
	g := d.holdSince(nil, jump)
	g.wait = min(g.wait, d.over(d.holdOfMaxTTL()))
	return g
}

// jumpedBefore reckons the silence anew by marks that were looked at since the clocks jumped:
// they record what was granted before. What fewer than a quorum record is replaced by what a
// quorum does.
func (d *Database) jumpedBefore() {
	d.steps.Lock()
	defer d.steps.Unlock()
	if d.jumpedAt == 0 {
		return
	}
	if g := d.silenceAfter(d.jumpedAt); g.remembered {
		d.silentUntil.Store(int64(d.jumpedAt + g.wait))
		if g.byQuorum {
			d.jumpedAt = 0
		}
	}
}

// mostDoubt returns how long a doubt in the master's mark may matter at most; 0 if it is not
// known. No clock stepped since it was first seen, so only locks matter that were granted
// before that, and marks that were looked at since record these.
func (mon *monitor) mostDoubt() time.Duration {
	mon.mu.Lock()
	since := mon.view.Standing.DoubtedAt
	mon.mu.Unlock()
	if since == 0 {
		return 0
	}
	if g := mon.db.holdSince(nil, since); g.remembered {
		return g.wait
	}
	return 0
}

// silentFor returns how much longer this redlockd grants nothing, in any database.
func (d *Database) silentFor(now time.Duration) time.Duration {
	return max(0, time.Duration(d.first().silentUntil.Load())-now)
}

// doubt has the master's mark record that its clock may have stepped together with
// others, for redlockd that start meanwhile and cannot tell (M5). A redlockd that can
// tell it has not removes the doubt.
func (l *Link) doubt(wait time.Duration) {
	l.mu.Lock()
	l.view.Memory.Doubt = max(l.view.Memory.Doubt, wait)
	l.mu.Unlock()
	l.wakeMonitor()
}

// warmingUp returns how much longer other instances may take to record a step in the mark
// that s shows; 0 if they must have done so before s. Where the mark records no hold, the
// master has kept no lock that a step could have ended.
func (mon *monitor) warmingUp(s mark.Observation) time.Duration {
	if s.Mark != nil && s.Mark.Greatest == 0 {
		return mon.clock.WarmingUp(s.Sent, clock.LookPause)
	}
	return mon.clock.WarmingUp(s.Sent, clock.WarmUpTime(mon.db.agreed.Greatest().Timeout))
}

// couldNotWrite notes that the mark that s shows could not be written. Where others are
// waited for, which may have seen a step, it has a doubt recorded as soon as it can be: they
// may be gone by then (M5).
func (mon *monitor) couldNotWrite(s mark.Observation) {
	if mon.clock.Unwritable() && s.Mark != nil {
		mon.doubt(s.Mark.Greatest)
	}
}

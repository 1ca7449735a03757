package outbox

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// Pace says when a link's next batch goes out (M2). As a rule that is as soon as the
// one before is answered. But where many clients are at work and batches take much
// longer than they could, processor time is what is short, here or on the master: then
// nothing is won by sending early, and a larger batch costs both less. So the batch
// waits, a little, for half of the clients that were at work. That makes a cycle
// cheaper by a tenth in all (docs/performance.md). The link's mutex is held for all of
// it.
type Pace struct {
	// target is how many tasks the next batch waits for; 0 is for none.
	target int
	// waiting is whether the sender waits for them.
	waiting bool
	// timer ends that after patience; enough is what it calls.
	timer    *time.Timer
	patience time.Duration
	enough   func()
	// last is when the last batch was answered.
	last time.Duration
	// least are the shortest times that a batch took, in this window and in the
	// one before; began is when this one did.
	least [2]time.Duration
	began time.Duration
}

const (
	// crowd is the least number of tasks of a batch where many are at work. With
	// fewer clients more is lost by waiting than won.
	crowd = 24
	// MaxPatience is the greatest patience. It is a tenth of timeout where that
	// is less, since the votes must come within timeout (V2).
	MaxPatience = 2 * time.Millisecond
	// CrowdGoneAfter is how long after the last batch nobody is waited for any more:
	// the many have gone.
	CrowdGoneAfter = 10 * time.Millisecond
	// PaceWindow is for how long the shortest time of a batch is remembered, at
	// least; twice as long at most.
	PaceWindow = 10 * time.Second
)

func newPace(timeout time.Duration, enough func()) Pace {
	return Pace{patience: min(MaxPatience, timeout/10), enough: enough}
}

// Answered notes, at the time now, that a batch of n tasks took so long, and
// that queued others wait already.
func (p *Pace) Answered(n, queued int, took, now time.Duration) {
	if p.began == 0 || now-p.began >= PaceWindow {
		p.least[0], p.least[1], p.began = took, p.least[0], now
	}
	p.least[0] = min(p.least[0], took)
	least := p.least[0]
	if p.least[1] > 0 {
		least = min(least, p.least[1])
	}
	p.target, p.last = 0, now
	if n >= crowd && took >= 2*least {
		p.target = min((n+queued)/2, maxBatch)
	}
}

// Waits reports whether the sender has to wait for more than the tasks that are
// there. If so, enough is called after patience, and then the sender has to ask again.
// The clock is read only where there is something to wait for.
func (p *Pace) Waits(tasks int, now clock.Clock) bool {
	if tasks < p.target && p.waiting {
		return true
	}
	if tasks >= p.target || now()-p.last >= CrowdGoneAfter {
		p.Stop()
		return false
	}
	p.waiting = true
	if p.timer == nil {
		p.timer = time.AfterFunc(p.patience, p.enough)
	} else {
		p.timer.Reset(p.patience)
	}
	return true
}

// wakes reports whether the sender wants to know that there are so many tasks.
func (p *Pace) wakes(tasks int) bool { return !p.waiting || tasks >= p.target }

// Stop ends the wait for this batch.
func (p *Pace) Stop() {
	if p.waiting {
		p.timer.Stop()
	}
	p.waiting, p.target = false, 0
}

// Forget begins anew for another connection: what batches took over the earlier one
// tells nothing of this one.
func (p *Pace) Forget() {
	p.Stop()
	p.least, p.began = [2]time.Duration{}, 0
}

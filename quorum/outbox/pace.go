package outbox

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// Pace determines when a link's next batch goes out (M2): as a rule as soon as the one
// before is answered. But if many clients are active and batches take much longer than
// the shortest ones, processor time is scarce, here or on the master. Then sending
// early gains nothing, and a larger batch costs both sides less. So the batch waits
// briefly for half of the clients that were active, which makes a cycle about a tenth
// cheaper in all (docs/performance.md). The link's mutex is held for all of it.
type Pace struct {
	// target is how many tasks the next batch waits for; 0 if it does not wait.
	target int
	// waiting reports whether the sender waits for them.
	waiting bool
	// timer calls enough once patience is over, which ends the wait.
	timer    *time.Timer
	patience time.Duration
	enough   func()
	// last is when the last batch was answered.
	last time.Duration
	// least are the shortest durations of a batch in the current window and in the one
	// before; began is when the current window did.
	least [2]time.Duration
	began time.Duration
}

const (
	// crowd is the least number of tasks in a batch that shows that many clients are
	// active. With fewer clients waiting costs more than it gains.
	crowd = 24
	// MaxPatience is the greatest patience; a tenth of timeout is used where that is
	// less, since the votes must come within timeout (V2).
	MaxPatience = 2 * time.Millisecond
	// CrowdGoneAfter is how long after the last answer no batch waits any more, because
	// the many clients have gone.
	CrowdGoneAfter = 10 * time.Millisecond
	// PaceWindow is the length of a window: the shortest duration of a batch is
	// remembered for at least that time, and at most twice.
	PaceWindow = 10 * time.Second
)

func newPace(timeout time.Duration, enough func()) Pace {
	return Pace{patience: min(MaxPatience, timeout/10), enough: enough}
}

// Answered notes, at the time now, that a batch of n tasks took so long, and that
// queued others wait already.
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

// Waits reports whether the sender must wait for more tasks than the ones queued. If
// so, enough is called after patience, and the sender must ask again then. The clock is
// read only if there is something to wait for.
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

// wakes reports whether the sender must be woken now that there are so many tasks.
func (p *Pace) wakes(tasks int) bool { return !p.waiting || tasks >= p.target }

// Stop ends the wait for this batch.
func (p *Pace) Stop() {
	if p.waiting {
		p.timer.Stop()
	}
	p.waiting, p.target = false, 0
}

// Forget starts afresh for a new connection: the durations over the previous one say
// nothing about it.
func (p *Pace) Forget() {
	p.Stop()
	p.least, p.began = [2]time.Duration{}, 0
}

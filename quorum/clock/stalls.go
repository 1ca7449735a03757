package clock

import (
	"context"
	"sync/atomic"
	"time"
)

// StallDetector detects whether this process itself stood still a moment ago. Then the
// masters' answers lie unread in the sockets, and a master that seems not to answer is
// not frozen (M1).
type StallDetector struct {
	last atomic.Int64
	// grace is until when no master is taken for frozen, by our clock.
	grace atomic.Int64
}

// How often the detector looks at the clock, how late it may be, and how long the process
// then takes to read what has come meanwhile.
const (
	stallCheckEvery = 20 * time.Millisecond
	stallCheckLate  = 20 * time.Millisecond
	stallGrace      = 20 * time.Millisecond
)

func (p *StallDetector) Beat(ctx context.Context, now Clock) {
	t := time.NewTicker(stallCheckEvery)
	defer t.Stop()
	for {
		at := now()
		if p.missed(at) {
			p.grace.Store(int64(at + stallGrace))
		}
		p.last.Store(int64(at))
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// missed reports whether the last look at the clock is too long ago.
func (p *StallDetector) missed(now time.Duration) bool {
	last := time.Duration(p.last.Load())
	return last != 0 && now-last > stallCheckEvery+stallCheckLate
}

// StoodStill reports whether the process has just stood still.
func (p *StallDetector) StoodStill(now time.Duration) bool {
	return p.missed(now) || now < time.Duration(p.grace.Load())
}

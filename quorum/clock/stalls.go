package clock

import (
	"context"
	"sync/atomic"
	"time"
)

// StallDetector tells whether this process itself stood still a moment ago: then the
// answers of masters lie in the sockets unread, and nobody is frozen for being
// unheard (M1).
type StallDetector struct {
	last atomic.Int64
	// grace is until when nobody is taken for frozen.
	grace atomic.Int64
}

// How often the detector looks at the clock, how late it may be, and how long it
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

// missed reports whether the clock was not looked at in time.
func (p *StallDetector) missed(now time.Duration) bool {
	last := time.Duration(p.last.Load())
	return last != 0 && now-last > stallCheckEvery+stallCheckLate
}

// StoodStill reports whether the process has just stood still.
func (p *StallDetector) StoodStill(now time.Duration) bool {
	return p.missed(now) || now < time.Duration(p.grace.Load())
}

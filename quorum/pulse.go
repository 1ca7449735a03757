package quorum

import (
	"context"
	"sync/atomic"
	"time"
)

// pulse tells whether this process itself stood still a moment ago: then the
// answers of masters lie in the sockets unread, and nobody is frozen for being
// unheard (M1).
type pulse struct {
	last atomic.Int64
	// grace is until when nobody is taken for frozen.
	grace atomic.Int64
}

// The pulse, how late it may be, and how long it then takes to read what has
// come meanwhile.
const (
	pulseEvery = 20 * time.Millisecond
	pulseLate  = 20 * time.Millisecond
	pulseGrace = 20 * time.Millisecond
)

func (p *pulse) beat(ctx context.Context, now clock) {
	t := time.NewTicker(pulseEvery)
	defer t.Stop()
	for {
		at := now()
		if p.missed(at) {
			p.grace.Store(int64(at + pulseGrace))
		}
		p.last.Store(int64(at))
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// missed reports whether the pulse has failed to come.
func (p *pulse) missed(now time.Duration) bool {
	last := time.Duration(p.last.Load())
	return last != 0 && now-last > pulseEvery+pulseLate
}

// stoodStill reports whether the process has just stood still.
func (p *pulse) stoodStill(now time.Duration) bool {
	return p.missed(now) || now < time.Duration(p.grace.Load())
}

package main

import (
	"context"
	"runtime"
	"time"
)

// ballast is memory that is never touched, so it takes none of the machine's,
// but counts as living when Go decides how much garbage may gather. Without it
// a heap of a few MiB, which is all that a busy redlockd needs, is collected
// a hundred times a second. A greater GOGC instead would let the garbage grow
// with whatever lives.
//
// Each session makes a collection longer, also an idle one. So that collecting
// takes no greater part of the time, it is done less often where there are
// many: each brings a part of ballast.
const (
	ballast           = 16 << 20
	ballastForSession = 8 << 10
)

// ballastFor is how much there is with so many sessions: steps of 16 MiB.
func ballastFor(sessions int) int { return ballast * (1 + sessions*ballastForSession/ballast) }

// keepBallast holds as much as there are sessions for, until ctx is over.
func keepBallast(ctx context.Context, sessions func() int) {
	held := make([]byte, ballast)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		runtime.KeepAlive(held)
		if want := ballastFor(sessions()); want > len(held) || want < len(held)/2 {
			held = make([]byte, want)
		}
	}
}

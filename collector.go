package main

import (
	"context"
	"runtime"
	"slices"
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

// ballastFor is how many pieces of it there are with so many sessions.
func ballastFor(sessions int) int { return 1 + sessions*ballastForSession/ballast }

// keepBallast holds as many pieces as there are sessions for, until ctx is
// over. What is there stays when more comes: a great piece in the place of small
// ones would be where they have been, and Go would clear it, and so touch it.
func keepBallast(ctx context.Context, sessions func() int) {
	held := [][]byte{make([]byte, ballast)}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		want := ballastFor(sessions())
		for len(held) < want {
			held = append(held, make([]byte, ballast))
		}
		if want < len(held)/2 {
			held = slices.Clone(held[:want])
		}
	}
	runtime.KeepAlive(held)
}

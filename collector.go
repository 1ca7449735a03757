package main

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// ballast is memory that is never touched, so it uses none of the machine's, but Go
// counts it as live when it decides how much garbage may gather. Without it a heap of a
// few MiB, which is all that a busy redlockd needs, is collected a hundred times a
// second. A greater GOGC instead would let the garbage grow with the live heap.
//
// Each session makes a collection longer, even an idle one. So that collections do not
// take a greater part of the time, they are made less frequent with many sessions: each
// session adds ballastForSession.
const (
	ballast           = 16 << 20
	ballastForSession = 8 << 10
)

// ballastFor returns how many pieces of ballast so many sessions need.
func ballastFor(sessions int) int { return 1 + sessions*ballastForSession/ballast }

// keepBallast keeps as many pieces as the sessions need, until ctx is over. When it needs
// more it adds pieces and keeps the old ones: a greater piece might be put in their
// place, and Go would clear, and so touch, that memory.
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

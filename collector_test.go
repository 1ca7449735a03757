package main

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The ballast grows and shrinks with the sessions, by a small part for each.
func TestBallast(t *testing.T) {
	living := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what a sync.Pool holds takes two collections
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := living()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var sessions atomic.Int64
		go keepBallast(ctx, func() int { return int(sessions.Load()) })
		for _, n := range []int{0, 30_000, 500, 20_000} {
			sessions.Store(int64(n))
			time.Sleep(1500 * time.Millisecond) // virtual: the ballast is adjusted once a second
			synctest.Wait()
			const slack = 1 << 20
			got, most := living()-before, ballast+n*ballastForSession
			if got > most+slack || got < most-ballast-slack || got < ballast-slack {
				t.Errorf("%d MiB are alive with %d sessions, want about %d", got>>20, n, most>>20)
			}
		}
	})
}

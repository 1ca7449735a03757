package faults

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestMovingIn is V11 and the steps of docs/operations.md: old clients ask
// their Redis directly, others ask redlockd, for which that Redis is the
// required master. Never have two of them one lock. Then the old clients are
// gone, the Redis is required no more, and at last it is replaced.
func TestMovingIn(t *testing.T) {
	t.Parallel()
	length := time.Duration(number("MOVING", 6)) * time.Second
	p := plan{clients: 24, old: 10, redlockds: 2, minTTL: 300 * time.Millisecond, maxTTL: 1100 * time.Millisecond}
	p.each = func(_ int, cfg *rig.Config) { cfg.Required = cfg.Names[0] }
	b := newBench(t, seed(), p)
	b.run(func() {
		s := newSchedule(b)
		// What is promised of the old Redis is what it promises.
		s.busy[0] = true
		few := []string{"empty restart", "flushall", "freeze master", "freeze redlockd", "slow", "stall", "cut", "drop", "script flush"}
		s.few = slices.DeleteFunc(s.few, func(k kind) bool { return !slices.Contains(few, k.name) })
		s.all = nil
		s.over = func() bool { return b.ended() || b.h.now() > length }
		s.run()
		t.Logf("faults: %v", s.ran)

		b.moved.Store(true)
		b.oldClients.Wait()
		time.Sleep(b.maxTTL) // what old clients have is over
		b.waitWell()
		b.h.fault("moving in: the old Redis is not required any more")
		for _, r := range b.redlockds {
			cfg := r.Config
			cfg.Required = ""
			r.Reload(cfg)
			time.Sleep(handover / 3) // at different moments
		}
		b.waitFinal()
		b.replace(rand.New(rand.NewPCG(b.seed, 1<<43)), 0, nil)
		time.Sleep(b.maxTTL)
	})
	old, others := 0, 0
	for _, calls := range b.h.keys {
		for _, c := range calls {
			switch {
			case c.kind != acquire || c.answer != yes:
			case c.old:
				old++
			default:
				others++
			}
		}
	}
	t.Logf("%d locks taken at the old Redis, %d at redlockd", old, others)
	if old < 20 || others < 20 {
		t.Errorf("%d locks were taken at the old Redis and %d at redlockd, want 20 each", old, others)
	}
	if left := b.masters[0].Client.DBSize(context.Background()).Val(); left != 1 {
		t.Errorf("%d keys on the master in the old Redis's place, want only the mark", left)
	}
}

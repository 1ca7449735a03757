package quorum

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// V7: a call on several keys enters all its queues in one step: two that name
// the same keys in opposite orders do not wait for one another for ever.
func TestV7SeveralKeysInOneStep(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		forth := make([]string, 64)
		for i := range forth {
			forth[i] = fmt.Sprint("k", i)
		}
		back := slices.Clone(forth)
		slices.Reverse(back)
		// What they wait for has changed, so that their turn is all they take.
		var w Watch
		w.changed.Store(true)
		for range 3000 {
			var ready atomic.Int32
			var all sync.WaitGroup
			for _, keys := range [][]string{forth, back} {
				all.Go(func() {
					for ready.Add(1); ready.Load() < 2; {
						runtime.Gosched()
					}
					op := giveAll("t", keys...)
					op.Unless = []*Watch{&w}
					if o := do(c.q, op); o.Verdict != Changed {
						t.Errorf("its turn did not come: %v", o.Err)
					}
				})
			}
			if all.Wait(); t.Failed() {
				return
			}
		}
	})
}

// V5: a try after a split that the first master refuses looks at the others: a
// token that has got a quorum meanwhile is held, and no split.
func TestV5RefusedProbeIsLookedAt(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		give := func(tokens ...string) {
			for i, f := range c.masters {
				if err := f.Set("k", tokens[i]); err != nil {
					t.Fatal(err)
				}
				f.SetTTL("k", time.Minute)
			}
		}
		give("x", "y", "z")
		out := start(c.q, acquire("k", "u", 10*time.Second))
		time.Sleep(500 * time.Microsecond) // it sleeps, a millisecond at least
		give("x", "x", "x")
		if o := c.want(<-out, Held); o.State.Token != "x" {
			t.Errorf("held by %q", o.State.Token)
		}
	})
}

// V11: the required master's refusal is no holder's where another redlockd's
// token was met too: one of the two is about to be undone.
func TestV11AnotherTokenIsMet(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		old.oldTake("k", "old", 30*time.Second)
		c.masters[1].oldTake("k", "x", 30*time.Second)
		c.slow(time.Millisecond, 3, 4) // who has that token is among the first to answer
		c.want(do(c.q, acquire("k", "new", 10*time.Second)), Split)
		c.masters[1].Del("k")
		if o := c.want(do(c.q, acquire("k", "new", 10*time.Second)), Held); o.State.Token != "old" {
			t.Errorf("held by %q", o.State.Token)
		}
	})
}

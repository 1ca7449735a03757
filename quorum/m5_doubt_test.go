package quorum

import (
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// TestM5SilenceOutlivesARestart checks that the pause in granting after a common step
// outlives the redlockd that saw the step: one that starts later cannot know whether
// the clocks stepped (M5).
func TestM5SilenceOutlivesARestart(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 4*time.Minute)), Won)
		time.Sleep(time.Second)
		for _, f := range c.masters {
			f.set(func() { f.Offset += 5 * time.Minute })
		}
		time.Sleep(3 * time.Second)
		c.stop(c.q)
		c.q = c.redlockd()
		for range 60 {
			time.Sleep(3 * time.Second)
			if o := do(c.q, acquire("k", "u", time.Second)); o.Verdict == Won {
				t.Fatal("another client has the lock, 4 minutes after it was given for 4")
			}
		}
		time.Sleep(6 * time.Minute)
		c.want(do(c.q, acquire("k", "u", time.Second)), Won)
	})
}

// TestM5DoubtIsTakenBack checks that if only one instance paused, another one that
// looked at the masters throughout knows that no clock stepped, and takes the doubt
// back for redlockd that start (M5).
func TestM5DoubtIsTakenBack(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		s := &stoppable{}
		still := c.redlockdBy(s.clock())
		watches := &stoppable{}
		c.stop(c.q)
		c.q = c.redlockdBy(watches.clock())
		time.Sleep(3 * time.Second)
		c.want(do(c.q, acquire("long", "t", 20*time.Second)), Won)
		time.Sleep(10 * time.Second)
		// Some time passes that only one of the two counts.
		watches.mu.Lock()
		watches.skipped += 900 * time.Millisecond
		watches.mu.Unlock()
		for _, f := range c.masters {
			f.set(func() { f.Offset += 900 * time.Millisecond })
		}
		time.Sleep(4 * time.Second)
		c.want(do(still, acquire("k", "t", time.Second)), Undecided)
		c.want(do(c.q, acquire("k", "t", time.Second)), Won)
		fresh := c.redlockdBy(watches.clock())
		time.Sleep(3 * time.Second)
		c.want(do(fresh, acquire("other", "t", time.Second)), Won)
	})
}

// TestM5UnderWayInACommonStep checks that votes that were under way when the clocks of
// a majority jumped do not count, although they fit the next baseline (M5). Otherwise B
// gets A's lock at once.
func TestM5UnderWayInACommonStep(t *testing.T) {
	for after := time.Duration(0); after < 40*time.Millisecond; after += 2 * time.Millisecond {
		inBubble(t, 3, func(c *testCluster) {
			for _, f := range c.masters {
				f.away(8 * time.Millisecond)
			}
			time.Sleep(2 * time.Second)
			c.want(do(c.q, acquire("warm", "t", 30*time.Second)), Won)
			time.Sleep(time.Second)
			c.want(do(c.q, acquire("k", "t", 30*time.Second)), Won)
			// The clocks step right before the next look, and an acquire goes out.
			for n := len(c.masters[0].commands(0)); !slices.Contains(c.masters[0].commands(n), "INFO "); {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(clock.LookEvery - 30*time.Millisecond)
			for _, f := range c.masters {
				f.set(func() { f.Offset += time.Minute })
			}
			time.Sleep(after)
			sent := time.Now()
			if o := do(c.q, acquire("k", "u", time.Second)); o.Verdict == Won {
				t.Fatalf("asked %v after the step: a second holder at %v", after, time.Since(sent))
			}
		})
	}
}

// TestM5WhoSawACommonStepKeepsTheDoubt checks that no instance that saw the clocks of a
// majority jump takes the doubt back, whatever look is under way in that moment (M5). A
// redlockd that starts then would give A's lock to B.
func TestM5WhoSawACommonStepKeepsTheDoubt(t *testing.T) {
	for after := time.Duration(0); after < time.Second; after += 25 * time.Millisecond {
		inBubble(t, 3, func(c *testCluster) {
			for i, f := range c.masters {
				f.away(time.Duration(8+6*i) * time.Millisecond)
			}
			time.Sleep(2 * time.Second)
			c.redlockd()
			time.Sleep(2*time.Second + after)
			c.redlockd()
			time.Sleep(5 * time.Second)
			c.want(do(c.q, acquire("k", "t", 30*time.Second)), Won)
			for _, f := range c.masters {
				f.set(func() { f.Offset += time.Minute })
			}
			fresh := c.redlockd()
			for range 20 {
				time.Sleep(250 * time.Millisecond)
				if o := do(fresh, acquire("k", "u", time.Second)); o.Verdict == Won {
					t.Fatalf("started %v after the other: a second holder", after)
				}
			}
		})
	}
}

// TestM5DoubtWhileAMarkIsWritten checks that a doubt that arises while a mark is written
// is written to it as well (M5). Otherwise a redlockd that starts then knows nothing of
// the step: A has a b, and B gets a c.
func TestM5DoubtWhileAMarkIsWritten(t *testing.T) {
	for after := time.Duration(0); after < 60*time.Millisecond; after += 5 * time.Millisecond {
		inBubble(t, 3, func(c *testCluster) {
			a, b := c.masters[0], c.masters[1]
			c.masters[2].kill()
			c.want(do(c.q, acquire("k", "A", 30*time.Second)), Won)
			c.masters[2].mend()
			a.away(20 * time.Millisecond)
			time.Sleep(3 * time.Second)
			// They step a little after a look at a, and a batch is always under way.
			var looked time.Time
			for n := len(a.commands(0)); looked.IsZero() || time.Since(looked) < 200*time.Millisecond; time.Sleep(time.Millisecond) {
				start(c.q, Op{Kind: Read, Key: "other"})
				if looked.IsZero() && slices.Contains(a.commands(n), "INFO ") {
					looked = time.Now()
				}
				if !looked.IsZero() && time.Since(looked) == after {
					a.set(func() { a.Offset += time.Minute })
					b.set(func() { b.Offset += time.Minute })
				}
			}
			time.Sleep(2 * time.Second)
			c.stop(c.q)
			c.q = c.redlockd()
			for range 50 {
				if o := do(c.q, acquire("k", "B", time.Second)); o.Verdict == Won {
					t.Fatalf("stepped %v after a look: a second holder", after)
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
}

// TestM5AbsentInDoubt checks that "absent" is no vote while the clocks of a majority may
// have stepped: the copies of a lock that its holder still has may have expired by that,
// and nobody else gets it. So neither the redlockd that saw the step nor one that starts
// later tells the holder that its lock is gone (M5, P4).
func TestM5AbsentInDoubt(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "t", 4*time.Minute)), Won)
			time.Sleep(time.Second)
			for _, f := range c.masters {
				f.set(func() { f.Offset += 5 * time.Minute })
			}
			time.Sleep(3 * time.Second)
			if restarted {
				c.stop(c.q)
				c.q = c.redlockd()
				time.Sleep(3 * time.Second)
			}
			c.want(do(c.q, Op{Kind: Read, Key: "k"}), Undecided)
			c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 4 * time.Minute}), Undecided)
			c.want(do(c.q, release("k", "t")), Undecided)
		})
	}
}

// TestM5LeastLeftInDoubt checks that what little time a copy has left says nothing in that
// time either: the masters' clocks went ahead, and the holder may still count on its lock
// (M5, V15, P4, why 66).
func TestM5LeastLeftInDoubt(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		time.Sleep(time.Second)
		for _, f := range c.masters {
			f.set(func() { f.Offset += 300 * time.Millisecond })
		}
		time.Sleep(8*time.Second + 700*time.Millisecond)
		for range 70 { // until 12 ms before its end
			if o := do(c.q, Op{Kind: Read, Key: "k"}); o.Verdict == Absent {
				t.Fatalf("its holder still has it, and it is answered absent: %+v", o)
			}
			time.Sleep(4 * time.Millisecond)
		}
	})
}

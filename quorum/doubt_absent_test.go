package quorum

import (
	"testing"
	"time"
)

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
// (M5, V15, P4).
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

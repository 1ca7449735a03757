package quorum

import (
	"fmt"
	"testing"
	"time"
)

// TestV3PaddingOfBefore checks that after a redlockd with a longer timeout has joined,
// so that the marks bear a greater padding, and was restarted, no redlockd that starts
// takes more off an earlier lock than its own padding, and its holder reads it to the
// end; also if all are restarted (V3, P4).
func TestV3PaddingOfBefore(t *testing.T) {
	for _, restarts := range []int{0, 1, 2} {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
			took := time.Now()
			brief := c.cfg
			c.cfg.Timeout = 300 * time.Millisecond
			others := []*Quorum{c.redlockd()}
			for range restarts {
				time.Sleep(2 * time.Second)
				c.stop(others[0])
				others = []*Quorum{c.redlockd()}
			}
			c.cfg = brief
			others = append(others, c.redlockd(), c.q)
			time.Sleep(2 * time.Second)
			for time.Since(took) < 9990*time.Millisecond {
				for i, q := range others {
					o := do(q, Op{Kind: Read, Key: "k"})
					if o.Verdict == Absent || o.Verdict != Held && time.Since(took) > 9*time.Second {
						t.Errorf("%d restarts: redlockd %d answers %v after %v of 10s", restarts, i, o.Verdict, time.Since(took))
					}
				}
				time.Sleep(60 * time.Millisecond)
			}
			for _, q := range others[1:] {
				c.stop(q)
			}
			c.q = others[0]
		})
	}
}

// TestV3LeastPaddingIsRaised checks that the marks bear the greater least padding once
// all earlier locks are over, and not before, and that no read answers more than was
// asked for then (V3).
func TestV3LeastPaddingIsRaised(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 4*time.Second)), Won)
		time.Sleep(time.Second)
		greatest := c.masters[0].markOf(t).Greatest
		if least := c.masters[0].markOf(t).Least; least != c.cfg.Padding() {
			t.Fatalf("the marks bear %v, want %v", least, c.cfg.Padding())
		}
		before := c.cfg.Padding()
		c.cfg.Timeout = 300 * time.Millisecond
		other := c.redlockd()
		began := time.Now()
		for c.masters[0].markOf(t).Least == before {
			if time.Since(began) > 5*greatest {
				t.Fatal("it is not raised")
			}
			time.Sleep(100 * time.Millisecond)
		}
		if after := time.Since(began); after < greatest {
			t.Errorf("raised after %v, and locks of %v may live", after, greatest)
		}
		time.Sleep(2 * time.Second)
		for i, f := range c.masters {
			if m := f.markOf(t); m.Least != c.cfg.Padding() || m.Padding != c.cfg.Padding() {
				t.Errorf("master %d bears %v of %v, want %v", i, m.Least, m.Padding, c.cfg.Padding())
			}
		}
		for i := range 20 {
			time.Sleep(70 * time.Millisecond)
			key := fmt.Sprint("k", i)
			c.want(do(other, acquire(key, "t", 3*time.Second)), Won)
			took := time.Now()
			time.Sleep(2 * time.Second)
			spent := time.Since(took) // not known more exactly than by the drift
			if o := do(c.q, Op{Kind: Read, Key: key}); o.State.TTL > 3*time.Second-spent+c.cfg.Drift(spent) {
				t.Errorf("%v are left of 3s after %v", o.State.TTL, time.Since(took))
			}
		}
	})
}

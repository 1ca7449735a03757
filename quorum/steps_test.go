package quorum

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// M5: the offsets allow what a clock within the drift does, and see a step
// beyond it, whatever the round trips.
func TestM5Offsets(t *testing.T) {
	for range 300 {
		o := offsets{drift: 0.01}
		speed := 1 + (rand.Float64()*2-1)*0.009
		now, step := time.Duration(0), 0.0
		look := func() offset {
			sent := now
			there := sent + time.Duration(rand.Int64N(int64(5*time.Millisecond)))
			now = there + time.Duration(rand.Int64N(int64(5*time.Millisecond)))
			return newOffset(int64(1e12+millis(there)*1000*speed+step*1000), sent, now)
		}
		for range 60 {
			n := look()
			if !o.within(n) {
				t.Fatalf("a clock of speed %f is taken to have stepped after %v", speed, now)
			}
			o.add(n, 20*time.Second)
			now += time.Duration(rand.Int64N(int64(time.Second)))
		}
		step = 40 + rand.Float64()*1e5
		if rand.IntN(2) == 0 {
			step = -step
		}
		if o.within(look()) {
			t.Fatalf("a step of %f ms is not seen", step)
		}
		if len(o.entries) > 25 {
			t.Fatalf("%d offsets are kept of 20s", len(o.entries))
		}
	}
}

// M5, why 19: a step that ends a lock on one master, in either direction and
// of any size, gives it to nobody else.
func TestM5StepOfOneMaster(t *testing.T) {
	for _, step := range []time.Duration{5 * time.Minute, 2900 * time.Millisecond, 400 * time.Millisecond, -time.Minute} {
		inBubble(t, 5, func(c *cluster) {
			c.masters[3].kill()
			c.masters[4].kill()
			c.want(do(c.q, acquire("k", "t", 2*time.Second)), Won)
			c.masters[3].mend()
			c.masters[4].mend()
			time.Sleep(time.Second)
			c.masters[0].set(func() { c.masters[0].offset = step })
			for began := time.Now(); time.Since(began) < 900*time.Millisecond; time.Sleep(10 * time.Millisecond) {
				if o := do(c.q, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
					t.Fatalf("a second holder after a step of %v", step)
				}
			}
			time.Sleep(3 * time.Second)
			if s := c.state(0); s.State != Quarantine || s.Reason != whyClock {
				t.Errorf("after a step of %v the status is %+v", step, s)
			}
			c.want(do(c.q, acquire("k2", "u", 2*time.Second)), Won)
			time.Sleep(15 * time.Second)
			if s := c.state(0); s.State != Voting {
				t.Errorf("later the status is %+v", s)
			}
		})
	}
}

// M5: when a quorum jumps together it may be our own pause: this redlockd
// grants nothing for the greatest hold, touches no mark, and goes on with
// releases, reads and extends; another serves.
func TestM5QuorumJumpsTogether(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		synctest.Wait()
		time.Sleep(time.Second)
		for _, f := range c.masters {
			f.set(func() { f.offset = 500 * time.Millisecond })
		}
		time.Sleep(2 * time.Second)
		o := c.want(do(c.q, acquire("other", "t", 10*time.Second)), Undecided)
		if !strings.Contains(o.Err.Error(), "stood still") {
			t.Errorf("error is %q", o.Err)
		}
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 10 * time.Second}), Won)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		c.want(do(c.q, release("k", "t")), Won)
		for i := range c.masters {
			if s := c.state(i); s.State != Voting {
				t.Errorf("the mark was touched: %+v", s)
			}
		}
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		c.want(do(other, acquire("other", "u", 10*time.Second)), Won)
		c.want(do(other, release("other", "u")), Won)
		time.Sleep(25 * time.Second)
		c.want(do(c.q, acquire("other", "t", 10*time.Second)), Won)
	})
}

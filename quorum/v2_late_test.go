package quorum

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// TestV2VotesReadAfterAPause checks that votes that are read after a pause of redlockd
// are too late, although the timer that ends the attempt has paused as well (V2).
func TestV2VotesReadAfterAPause(t *testing.T) {
	for name, op := range map[string]Op{
		"acquire":           acquire("k", "t", 10*time.Second),
		"acquire or extend": {Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: 10 * time.Second},
		"extend":            {Kind: Extend, Key: "mine", Token: "t", TTL: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				s := c.stoppable()
				c.want(do(c.q, acquire("mine", "t", 20*time.Second)), Won)
				time.Sleep(500 * time.Millisecond) // no look comes in between
				c.slow(2*time.Millisecond, 0, 1, 2)
				out := start(c.q, op)
				time.Sleep(time.Millisecond)
				c.pass(c.cfg.Timeout+20*time.Millisecond, s)
				o := c.want(<-out, Undecided)
				want := "NOQUORUM the majority agreed too late: 76ms after it was asked, timeout is 50ms; the lock is rolled back"
				if name == "acquire" && o.Err.Error() != want { // the clock's reading voids the others' votes
					t.Errorf("%q, want %q", o.Err, want)
				}
				c.slow(0, 0, 1, 2)
				time.Sleep(time.Second)
				if n := c.copies("k", "t"); n != 0 {
					t.Errorf("%d copies are left", n)
				}
			})
		})
	}
}

// TestP5WonAfterItWasToldNoquorum checks that an acquire that was answered NOQUORUM
// while the marks were being raised to its hold does not keep the lock (P5, V2).
func TestP5WonAfterItWasToldNoquorum(t *testing.T) {
	for name, kind := range map[string]Kind{"acquire": Acquire, "acquire or extend": AcquireOrExtend} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 5, func(c *testCluster) {
				c.want(do(c.q, acquire("k", "other", time.Second)), Won)
				c.want(do(c.q, release("k", "other")), Won)
				time.Sleep(3500 * time.Millisecond)
				all := []int{0, 1, 2, 3, 4}
				c.slow(16*time.Millisecond, all...) // 48 ms a batch
				var before []<-chan *Outcome
				for i := range 5 {
					before = append(before, start(c.q, release("k", fmt.Sprint(i))))
				}
				// Its turn comes after 240 of 250 ms, and one mark takes longer to
				// write than the others.
				out := start(c.q, Op{Kind: kind, Key: "k", Token: "t", TTL: 60 * time.Second})
				time.Sleep(235 * time.Millisecond)
				c.slow(time.Millisecond, all[1:]...)
				for _, o := range before {
					<-o
				}
				c.want(<-out, Undecided)
				c.slow(0, all...)
				time.Sleep(2 * time.Second)
				if n := c.copies("k", "t"); n != 0 {
					t.Errorf("%d copies are left of an acquire that was answered NOQUORUM", n)
				}
			})
		})
	}
}

// TestV3SlowLooksGiveNoExpiry checks that no expiry is derived from a look that took
// longer than timeout, since it says too little about the master's clock: a read would
// answer more than was asked for (V3).
func TestV3SlowLooksGiveNoExpiry(t *testing.T) {
	for rounds := 0; rounds < 4; { // the monitors may look at different times
		inBubble(t, 3, func(c *testCluster) {
			if c.acquireBySlowLooks() {
				rounds++
			}
		})
	}
}

// acquireBySlowLooks reports whether at some time no master was being looked at. By
// chance the monitors may look one after the other for ever.
func (c *testCluster) acquireBySlowLooks() bool {
	c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
	way := func(d time.Duration) {
		for _, f := range c.masters {
			f.away(d)
		}
	}
	way(300 * time.Millisecond)
	time.Sleep(6 * time.Second)
	frozen := func(m cluster.MasterStatus) bool { return m.State == Frozen }
	for began := time.Now(); slices.ContainsFunc(c.q.Status().Masters, frozen); time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			way(0)
			return false
		}
	}
	way(0) // all looks are done, and the next ones have not begun
	for asked := time.Now(); ; asked = time.Now() {
		if do(c.q, acquire("k", "t", 10*time.Second)).Verdict != Won {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		time.Sleep(5 * c.cfg.Timeout)
		o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		if left := 10*time.Second - time.Since(asked); o.State.TTL > left {
			c.t.Errorf("%v are left of 10s after %v", o.State.TTL, time.Since(asked))
		}
		return true
	}
}

// TestM5LooksOfBeforeAStepAreForgotten checks that after the masters' clocks have
// jumped, earlier looks are not used for expiries and deadlines any more: extends work
// again soon, and last for their whole TTL (M5, V6).
func TestM5LooksOfBeforeAStepAreForgotten(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		time.Sleep(2500 * time.Millisecond)
		for _, f := range c.masters {
			f.set(func() { f.Offset = 5 * time.Second })
		}
		extend := Op{Kind: Extend, Key: "k", Token: "t", TTL: 20 * time.Second}
		began, asked := time.Now(), time.Now()
		for do(c.q, extend).Verdict != Won {
			time.Sleep(20 * time.Millisecond)
			asked = time.Now()
		}
		if took := asked.Sub(began); took > c.warmingUp()+4*c.cfg.Timeout {
			t.Errorf("no extend for %v after the step", took)
		}
		other := c.redlockd() // it has not seen the clocks jump, and grants
		for time.Since(asked) < extend.TTL {
			if o := do(other, acquire("k", "u", time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder %v after an extend for %v", time.Since(asked), extend.TTL)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

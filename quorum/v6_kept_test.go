package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestP5LateRenewalIsRolledBack checks that a copy which a lost renewal renames after its
// verdict is rolled back too (P5, V6).
func TestP5LateRenewalIsRolledBack(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		o := c.won(0)
		c.slow(8*time.Millisecond, 2)
		// Somebody deletes the lock by force, and another client gets it, before m2 hears of it.
		c.masters[0].Del("k")
		c.masters[1].Del("k")
		c.want(do(other, acquire("k", "b", 10*time.Second)), Won)
		renew(o)
		if _, err := o.Confirm(o.Clock()); err == nil {
			t.Fatal("it is confirmed")
		}
		time.Sleep(time.Second)
		if n := c.copies("k", "t"); n > 0 {
			t.Errorf("%d copies are left of a lock whose client was told NOQUORUM", n)
		}
	})
}

// TestV6KeptWhileTheMasterHalts checks that a lock whose TTL was kept loses its attempt's
// name also on a master before 7.0, which does not answer the expiry, if that stands still
// while a script finds it (V6).
func TestV6KeptWhileTheMasterHalts(t *testing.T) {
	for halt := 0; halt < 128; halt += 9 {
		inBubble(t, 3, func(c *testCluster) {
			one, other := c.two()
			halting := func(d time.Duration, at int) {
				for _, f := range c.masters {
					f.set(func() { f.Halt, f.HaltAt = d, at })
				}
			}
			for at := 2; at <= 5; at++ { // each expiry is found between two
				key := fmt.Sprint("k", at)
				o := c.want(do(one.Quorum, acquire(key, "A", 10*time.Second)), Won)
				synctest.Wait()
				halting(time.Duration(halt)*time.Millisecond, at)
				c.want(do(other, Op{Kind: Decide, Key: key, Decide: func(s State) Op {
					return keep(key, s)
				}}), Won)
				synctest.Wait()
				halting(0, 0)
				o.Undo()
				synctest.Wait()
				if n := c.copies(key, "A"); n != 3 {
					t.Errorf("after %d ms at %d: %d copies of the lock that was kept, want 3", halt, at, n)
				}
			}
		})
	}
}

// TestV8FreedByTheRequiredWord checks that a transaction which is won by the required
// master's word (V11), because only that master has one of its locks, frees its other locks
// on the masters that refused it too (V8, P5).
func TestV8FreedByTheRequiredWord(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		c.tell(do(c.q, acquire("k", "t", 30*time.Second)))
		old.oldTake("l", "old", 30*time.Second)
		synctest.Wait()
		all := Op{Kind: DecideAll, Keys: []string{"k", "l"}, DecideAll: func([]State) []Change {
			return []Change{{Key: "k", Delete: true}, {Key: "l", Delete: true}}
		}}
		c.want(do(c.q, all), Won)
		time.Sleep(2 * time.Second)
		if n := c.copies("k", "t"); n > 0 {
			t.Errorf("%d copies are left of a lock that was freed", n)
		}
		c.want(do(c.q, acquire("k", "u", time.Second)), Won)
	})
}

// TestC7ConditionOnTheTTL checks that an extend on condition that it asks for more than what
// is left does not shorten a lock that another instance has prolonged since the TTL was read
// (C7, V6).
func TestC7ConditionOnTheTTL(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		one, other := c.two()
		c.tell(do(other, acquire("k", "A", 5*time.Second)))
		one.farther(15 * time.Millisecond)
		out := start(one.Quorum, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			if s.TTL >= 10*time.Second {
				return Op{Kind: Read}
			}
			return extend("k", "A", 10*time.Second)
		}})
		time.Sleep(20 * time.Millisecond)
		c.tell(do(other, extend("k", "A", 20*time.Second)))
		c.want(<-out, Won)
		time.Sleep(15 * time.Second)
		c.want(do(other, acquire("k", "B", 10*time.Second)), Held)
	})
}

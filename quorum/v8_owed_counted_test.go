package quorum

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// TestV8OwedReleaseOfACopyThatWasCounted checks that what R2 has yet to repeat of a DEL deletes no
// copy that R1 has counted since for A's lock, though the copy kept the expiry that R2 gave (V8, V6).
func TestV8OwedReleaseOfACopyThatWasCounted(t *testing.T) {
	for _, several := range []bool{false, true} {
		inBubble(t, 3, func(c *testCluster) {
			way := c.owesDel(acquire("k", "t", time.Minute), extend("k", "t", time.Minute)) // B's
			time.Sleep(time.Second)
			c.tell(do(c.q, acquire("k", "t", 5*time.Second))) // A does not know, and takes it again
			synctest.Wait()
			time.Sleep(time.Second)
			a := c.masters[0]
			a.freeze()
			time.Sleep(60 * time.Millisecond)
			told := time.Now()
			op := Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
				if s.TTL >= 20*time.Second {
					return Op{Kind: Read}
				}
				return extend("k", "t", 20*time.Second)
			}}
			if several {
				op = Op{Kind: DecideAll, Keys: []string{"k", "l"}, DecideAll: func(s []State) []Change {
					if s[0].Token != "t" || s[0].TTL >= 20*time.Second {
						return nil
					}
					return []Change{{Key: "k", Token: "t", TTL: 20 * time.Second}}
				}}
			}
			c.tell(do(c.q, op))
			time.Sleep(300 * time.Millisecond)
			a.thaw()
			way.cut(false)
			time.Sleep(6 * time.Second)
			if o := do(c.q, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Errorf("several %v: B has the lock %v before A's TTL is over", several, 20*time.Second-time.Since(told))
			}
		})
	}
}

// TestV2RenewalCountsItsOwnCopies checks that a renewal counts no copy of another attempt, though
// it has the token: a DEL that is still to be repeated may delete it (V2, V8).
func TestV2RenewalCountsItsOwnCopies(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.owesDel(acquire("k", "t", time.Minute), extend("k", "t", time.Minute)) // B's
		time.Sleep(time.Second)
		o := c.want(do(c.q, acquire("k", "t", time.Second)), Won)
		synctest.Wait()
		time.Sleep(10 * time.Millisecond)
		c.masters[0].freeze()
		time.Sleep(230 * time.Millisecond)
		renew(o)
		if _, err := o.Confirm(o.Clock()); err == nil {
			t.Error("the acquire is told, and one copy of its own is left")
		}
	})
}

// TestV15NotOverByWhatWasCountedElsewhere checks that a lock is not over by what R2 gave it, if R1
// has since counted a copy with that expiry for a TTL that ends later (V15, V6).
func TestV15NotOverByWhatWasCountedElsewhere(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(5 * time.Second)
		c.tell(do(other, acquire("k", "t", 250*time.Second)))
		synctest.Wait()
		b := c.masters[1]
		b.refuse("BUSY a script is running")
		c.tell(do(other, extend("k", "t", 300*time.Second)))
		synctest.Wait()
		b.refuse("")
		time.Sleep(200 * time.Second)
		c.masters[0].freeze()
		time.Sleep(60 * time.Millisecond)
		told := time.Now()
		const ttl = 101 * time.Second
		c.tell(do(c.q, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			if s.TTL >= ttl {
				return Op{Kind: Read}
			}
			return extend("k", "t", ttl)
		}}))
		time.Sleep(300 * time.Millisecond)
		c.masters[0].thaw()
		time.Sleep(time.Until(told.Add(ttl - 500*time.Millisecond)))
		if o := do(other, extend("k", "t", 20*time.Second)); o.Verdict != Won {
			t.Errorf("A's extend %v before its end: %v", ttl-time.Since(told), o.Verdict)
		}
		if o := do(c.q, acquire("k", "B", time.Second)); o.Verdict == Won {
			t.Errorf("B has the lock %v before A's TTL is over", ttl-time.Since(told))
		}
	})
}

// TestV6RaisedInTurns checks that a copy which lasts longer than the lock does not come to last
// longer than a quarantine waits, when two instances raise the lock in turn again and again (V6, M4).
func TestV6RaisedInTurns(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(5 * time.Second)
		c.tell(do(c.q, acquire("k", "t", c.cfg.MaxTTL)))
		synctest.Wait()
		longest := cluster.RoundHold(c.cfg.Settings().Hold) // what the marks record
		c.masters[0].SetTTL("k", longest)
		for _, m := range c.masters[1:] {
			m.SetTTL("k", 2*time.Second) // B's DEL, and A's next acquire, did not reach the first one
		}
		for i := range 300 {
			q := c.q
			if i%2 == 0 {
				q = other
			}
			time.Sleep(5 * time.Millisecond)
			do(q, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
				return extend("k", "t", s.TTL.Truncate(time.Millisecond)+100*time.Millisecond)
			}})
			synctest.Wait()
		}
		if more := c.masters[0].TTL("k") - longest; more > 382*time.Millisecond {
			t.Errorf("a copy comes to last for %v more than the greatest hold", more)
		}
	})
}

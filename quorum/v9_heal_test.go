package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestV9LateHealChangesNothing checks that a heal that comes late does nothing, since
// the lock may have been released meanwhile through another instance (V9).
func TestV9LateHealChangesNothing(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		f := c.masters[0]
		f.Del("k")
		c.slow(4*time.Millisecond, 1, 2)
		out := start(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second})
		time.Sleep(time.Millisecond) // its "absent" has arrived
		f.away(time.Second)
		c.want(<-out, Won)
		synctest.Wait()
		f.away(0)
		c.slow(0, 1, 2)
		c.want(do(other, release("k", "t")), Won)
		time.Sleep(5 * time.Second)
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies are left of what was released", n)
		}
	})
}

// TestV9HealsAreOverWhenAnExtendIsTold checks that an extend is answered after its
// heals are over (V9). A release that follows, here through another instance, is won by
// one master and the "absent" of another. A heal that came after that would give the
// lock a quorum again, with the copy on the master that did not answer.
func TestV9HealsAreOverWhenAnExtendIsTold(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		f := c.masters[0]
		f.Del("k")
		c.slow(4*time.Millisecond, 1, 2)
		out := start(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second})
		time.Sleep(time.Millisecond) // its "absent" has arrived
		f.away(30 * time.Millisecond)
		c.want(<-out, Won)
		if f.holds("k") != "t" {
			t.Fatal("the extend was answered while a heal of it is under way")
		}
		f.away(0)
		c.slow(time.Second, 2)
		c.want(do(other, release("k", "t")), Won)
		c.slow(0, 2)
		c.want(do(other, Op{Kind: Read, Key: "k"}), Absent)
	})
}

// TestV9ExtendWaitsForHealsATimeoutAtMost checks that a master that does not answer a
// heal delays the extend until the heal cannot act any more, and no longer (V9).
func TestV9ExtendWaitsForHealsATimeoutAtMost(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		f := c.masters[0]
		f.Del("k")
		c.slow(4*time.Millisecond, 1, 2)
		began := time.Now()
		out := start(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second})
		time.Sleep(time.Millisecond)
		f.freeze()
		c.want(<-out, Won)
		if took, limit := time.Since(began), c.q.cfg.Timeout+c.q.cfg.Grace(); took > limit {
			t.Errorf("answered after %v, want %v at most", took, limit)
		}
	})
}

// TestV9OnlyWhoIsKnownToLackItIsHealed checks that only a master whose "absent" had
// arrived at the verdict is healed: for any other one it is not known what has happened
// to its copy since (V9).
func TestV9OnlyWhoIsKnownToLackItIsHealed(t *testing.T) {
	for _, r := range []struct {
		name    string
		before  func(c *testCluster, f *fakeMaster)
		healed  bool
		slowOne bool
	}{
		{"it said so", func(*testCluster, *fakeMaster) {}, true, false},
		{"it is awaited", func(*testCluster, *fakeMaster) {}, false, true},
		{"it answered an error", func(_ *testCluster, f *fakeMaster) { f.refuse("BUSY Redis is busy running a script.") }, false, false},
	} {
		t.Run(r.name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
				synctest.Wait()
				f := c.masters[0]
				f.Del("k")
				r.before(c, f)
				if r.slowOne {
					c.slow(4*time.Millisecond, 0)
				} else {
					c.slow(4*time.Millisecond, 1, 2)
				}
				out := start(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second})
				time.Sleep(time.Millisecond)
				f.refuse("")
				c.want(<-out, Won)
				c.slow(0, 0, 1, 2)
				time.Sleep(100 * time.Millisecond)
				if got := f.holds("k") == "t"; got != r.healed {
					t.Errorf("healed: %v, want %v", got, r.healed)
				}
			})
		})
	}
}

package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// V9: a heal that comes late does nothing: the lock may have been released
// meanwhile, through another redlockd.
func TestV9LateHealChangesNothing(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		f := c.masters[0]
		f.Del("k")
		c.slow(4*time.Millisecond, 1, 2)
		out := start(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second})
		time.Sleep(time.Millisecond) // its "absent" is in hand
		f.set(func() { f.way = time.Second })
		c.want(<-out, Won)
		synctest.Wait()
		f.set(func() { f.way = 0 })
		c.slow(0, 1, 2)
		c.want(do(other, release("k", "t")), Won)
		time.Sleep(5 * time.Second)
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies are left of what was released", n)
		}
	})
}

// V9: only a master whose "absent" was in hand at the verdict is healed: what
// happened since to a copy that it has or had is not known.
func TestV9OnlyWhoIsKnownToLackItIsHealed(t *testing.T) {
	for _, r := range []struct {
		name    string
		before  func(c *cluster, f *fakeMaster)
		healed  bool
		slowOne bool
	}{
		{"it said so", func(*cluster, *fakeMaster) {}, true, false},
		{"it is awaited", func(*cluster, *fakeMaster) {}, false, true},
		{"it answered an error", func(_ *cluster, f *fakeMaster) { f.refuse("BUSY Redis is busy running a script.") }, false, false},
	} {
		t.Run(r.name, func(t *testing.T) {
			inBubble(t, 3, func(c *cluster) {
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

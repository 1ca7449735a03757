package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// TestM9SeatOfMarksThatWereLost checks that a server does not vote by a seat that only a
// redlockd remembers and its own mark: the other marks that recorded it were lost, and
// begun anew by a redlockd that still uses the former server (M9).
func TestM9SeatOfMarksThatWereLost(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		inBubble(t, 3, func(c *testCluster) {
			direct := c.cfg.Masters
			oldB, oldC := c.throughCable(1), c.throughCable(2)
			old := c.redlockd() // uses the old a
			c.cfg.Masters = direct
			newB, newC := c.throughCable(1), c.throughCable(2)
			time.Sleep(3 * time.Second)
			c.want(do(c.q, acquire("before", "t", time.Second)), Won)
			c.stop(c.q)
			oldB.cut(true)
			oldC.cut(true)
			c.cfg.Masters = c.moved("a", c.server("run-new"))
			moved := c.redlockd() // uses the new a
			time.Sleep(8 * time.Minute)
			if s := moved.Status(); s.Voting != 3 {
				t.Fatalf("the new server does not vote: %+v", s.Masters)
			}
			newB.cut(true)
			newC.cut(true)
			for _, f := range c.masters[1:3] {
				f.kill()
				f.startEmpty()
			}
			oldB.cut(false)
			oldC.cut(false)
			time.Sleep(15 * time.Minute)
			if s := old.Status(); s.Voting != 3 {
				t.Fatalf("the lost masters do not vote: %+v", s.Masters)
			}
			oldC.cut(true)
			time.Sleep(time.Second)
			c.want(do(old, acquire("k", "t", time.Minute)), Won) // on the old a, and b
			newC.cut(false)
			if restarted {
				c.stop(moved)
				moved = c.redlockd()
			}
			for range 100 {
				time.Sleep(100 * time.Millisecond)
				if o := do(moved, acquire("k", "u", time.Second)); o.Verdict == Won {
					t.Errorf("restarted %v: a second holder", restarted)
					return
				}
			}
			if s := moved.Status().Masters[0]; s.State == cluster.Voting {
				t.Errorf("restarted %v: the new server votes: %+v", restarted, s)
			}
		})
	}
}

package quorum

import (
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// TestM8ChangedOnAServerWithoutItsSeat checks that the mark of a server that has no seat
// does not count for a change of the list (why 126). a moves to a2 for R1; R2 still uses the
// old a, so a2 does not vote. The network splits while R1 replaces c by x: a2 and b record
// it, and A would have the old a and c by the old list, B b and x.
func TestM8ChangedOnAServerWithoutItsSeat(t *testing.T) {
	inBubbleWith(t, 3, briefly, func(c *testCluster) {
		old, oldWays := c.redlockdOver(c.cfg.Masters)
		c.want(do(c.q, acquire("before", "A", 4*time.Second)), Won)
		c.stop(c.q)
		c.q = old
		time.Sleep(10 * time.Second)
		slow := &detour{let: make(chan struct{})}
		defer slow.release()
		c.cfg.Masters = c.moved("a", c.server("run-new"))
		c.cfg.Masters[2].Dial = slow.dial(c.masters[2])
		moved := c.redlockd()
		time.Sleep(30 * time.Second)
		list := c.listed("c", c.join("x"))
		oldWays["b"].leads(noRoute) // the network splits; what R1 writes to c hangs
		time.Sleep(time.Second)
		c.change(moved, list)
		time.Sleep(90 * time.Second)
		c.want(do(old, acquire("k", "A", 4*time.Second)), Won)
		if o := do(moved, acquire("k", "B", 4*time.Second)); o.Verdict == Won {
			t.Fatal("a second holder")
		}
	})
}

// TestM8ChangedOnAServerThatLostItsSeat is the same by a real mark (why 126): a2 has the seat,
// and R2, which still uses the old a, replaces c by x. A would have a2 and c by the old list,
// B b and x.
func TestM8ChangedOnAServerThatLostItsSeat(t *testing.T) {
	inBubbleWith(t, 3, briefly, func(c *testCluster) {
		c.want(do(c.q, acquire("before", "A", 4*time.Second)), Won)
		slow := &detour{let: make(chan struct{})}
		defer slow.release()
		before := slices.Clone(c.cfg.Masters)
		before[2].Dial = slow.dial(c.masters[2])
		c.stop(c.q)
		moved, ways := c.redlockdOver(c.moved("a", c.server("run-new")))
		c.q = moved
		time.Sleep(40 * time.Second)
		if s := moved.Status(); s.Voting != 3 {
			t.Fatalf("%+v", s.Masters)
		}
		old := c.redlockdOf(before)
		time.Sleep(10 * time.Second)
		list := c.listed("c", c.join("x"))
		ways["b"].leads(noRoute) // the network splits; what R2 writes to c hangs
		time.Sleep(time.Second)
		c.change(old, list)
		time.Sleep(90 * time.Second)
		c.want(do(moved, acquire("k", "A", 4*time.Second)), Won)
		if o := do(old, acquire("k", "B", 4*time.Second)); o.Verdict == Won {
			t.Fatal("a second holder")
		}
	})
}

// briefly is short, with a shorter handover.
func briefly(cfg *cluster.Config) { cfg.MaxTTL, cfg.Handover = 5*time.Second, 5*time.Second }

// TestM8LossWhileTheOneThatLeavesIsDown checks that a change that waits for a server of the
// old list with its seat becomes final once an empty server is started in place of the master
// that leaves (why 138).
func TestM8LossWhileTheOneThatLeavesIsDown(t *testing.T) {
	inBubbleWith(t, 3, briefly, func(c *testCluster) {
		list := c.listed("c", c.join("x"))
		c.masters[2].kill()
		c.change(c.q, list)
		c.reaches(c.q, 2, "closed")
		c.masters[1].kill()
		c.masters[1].startEmpty()
		time.Sleep(2 * time.Minute)
		if s := c.q.Status(); s.Phase != "closed" {
			t.Errorf("the change is %s by one server with its seat", s.Phase)
		}
		c.masters[2].startEmpty()
		c.reaches(c.q, 2, "final")
		c.serves(c.q, 3)
	})
}

// TestM8SeatChangesMeanwhile checks that a master that begins anew in the middle of a change
// gets its seat, although the only other master of the new list has just joined (why 137):
// the change needs both marks of the old list.
func TestM8SeatChangesMeanwhile(t *testing.T) {
	for _, phase := range []string{"announced", "closed"} {
		t.Run(phase, func(t *testing.T) {
			inBubbleWith(t, 2, short, func(c *testCluster) {
				c.redlockd()
				c.change(c.q, c.listed("b", c.join("x")))
				c.reaches(c.q, 2, phase)
				c.masters[0].FlushAll()
				c.serves(c.q, 2)
			})
		})
	}
}

package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// TestM9SeatRecordedAtOneTime checks that a seat counts as recorded only if enough marks
// that record it are in view at one time (why 201). R1 has a moved to a2, writes the seat into
// b's mark, and loses sight of c, then of b. b restarts empty, and R2, which still uses the old a, begins
// it anew. R1 reaches c and writes the seat there: A has the old a and b, B would get a2 and c.
func TestM9SeatRecordedAtOneTime(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		b, third := c.masters[1], c.masters[2]
		c.want(do(c.q, acquire("before", "A", half)), Won)
		first := seatOfA(b.markOf(t)).Epoch
		c.stop(c.q)
		third.away(5 * time.Millisecond)
		list := c.cfg.Masters
		moved, ways := c.redlockdOver(c.moved("a", c.server("run-new")))
		for s := (mark.Seat{}); s.Epoch <= first; time.Sleep(time.Millisecond) {
			s, _ = moved.agreed.Of(mark.NameHash("a"))
		}
		ways["c"].leads(noRoute)
		third.away(0)
		time.Sleep(3 * time.Second)
		ways["b"].leads(noRoute)
		if inB, inC := seatOfA(b.markOf(t)), seatOfA(third.markOf(t)); inB.Epoch <= first || inC.Epoch > first {
			t.Fatalf("b records %+v, c %+v", inB, inC)
		}
		b.kill()
		b.startEmpty()
		old, oldWays := c.redlockdOver(list)
		time.Sleep(30 * time.Second)
		if s := old.Status(); s.Voting != 3 {
			t.Fatalf("%+v", s.Masters)
		}
		oldWays["c"].leads(noRoute) // the network splits
		ways["c"].leads(third.dial)
		time.Sleep(8 * time.Minute)
		c.want(do(old, acquire("k", "A", time.Minute)), Won)
		if o := do(moved, acquire("k", "B", time.Minute)); o.Verdict == Won {
			t.Fatal("a second holder")
		}
	})
}

package quorum

import (
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// until waits until something is so, a minute at most.
func (c *testCluster) until(what string, is func() bool) {
	c.t.Helper()
	for range 60_000 {
		if is() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	c.t.Fatal("never: ", what)
}

// TestM9MarkOfAnotherListRecordsNoSeat checks that a server does not vote because a mark of an
// older list has recorded its seat (M9): an instance with that list, on which the master is not,
// drops it. e of a b c d e is replaced by f while d is cut off, which only R2 reaches, with the
// old list. Then f moves to f2 for R3, which a c d record; R1 still uses f1. A would get the lock
// on b d f1 and B on a c f2.
func TestM9MarkOfAnotherListRecordsNoSeat(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		b, d := c.masters[1], c.masters[3]
		_, ways2 := c.redlockdOver(c.cfg.Masters)
		r1, ways1 := c.redlockdOver(c.cfg.Masters)
		time.Sleep(5 * time.Second)
		c.stop(c.q)
		time.Sleep(2 * time.Second)
		for _, name := range []string{"a", "b", "c", "e"} {
			ways2[name].leads(noRoute)
		}
		ways1["d"].leads(noRoute)
		f1, f2 := c.join("f"), c.server("run-new")
		ways1["f"] = &way{dial: f1.dial}
		list := c.listed("e", f1)
		c.change(r1, over(list, ways1))
		c.reaches(r1, 2, "final")
		time.Sleep(25 * time.Second)

		ways1["f"].leads(noRoute)
		moved := slices.Clone(list)
		moved[4].Address, moved[4].Dial = "f2:1", f2.dial
		at := slices.IndexFunc(moved, func(m cluster.Master) bool { return m.Name == "d" })
		moved[at].Dial = noRoute
		r3, ways3 := c.redlockdOver(moved)
		time.Sleep(3 * time.Second)
		ways1["a"].leads(noRoute)
		ways1["c"].leads(noRoute)
		seat := func(f *fakeMaster) mark.Seat { return f.markOf(t).Seats[mark.NameHash("f")] }
		first := seat(c.masters[0])
		b.away(5 * time.Millisecond)
		c.until("f2 takes the seat", func() bool { s, _ := r3.agreed.Of(mark.NameHash("f")); return s.Epoch > first.Epoch })
		ways3["b"].leads(noRoute) // b does not record it
		b.away(0)
		time.Sleep(4 * time.Second)
		ways3["d"].leads(d.dial)
		c.until("d records f2", func() bool { return seat(d).Epoch > first.Epoch })
		ways3["d"].leads(noRoute)
		time.Sleep(25 * time.Second)

		d.away(5 * time.Millisecond)
		ways3["d"].leads(d.dial)
		for i := 0; i < 5000 && d.markOf(t).Number == 1; i++ { // R3 raises d's mark if f2 votes
			time.Sleep(time.Millisecond)
		}
		ways3["d"].leads(noRoute)
		d.away(0)
		ways1["d"].leads(d.dial)
		ways1["f"].leads(f1.dial)
		time.Sleep(10 * time.Second)
		x, y := do(r1, acquire("k", "A", 4*time.Second)), do(r3, acquire("k", "B", 4*time.Second))
		if x.Verdict == Won && y.Verdict == Won {
			t.Error("two holders")
		}
	})
}

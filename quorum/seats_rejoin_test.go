package quorum

import (
	"testing"
	"time"
)

// TestM9SeatOfAMasterThatLeftAndJoined checks that a master that joins the list again does
// not get its seat by an epoch that its former server has had: a redlockd that was cut off
// meanwhile still remembers that one, and would give the seat back to the former server,
// which votes at once (M9, why 197).
func TestM9SeatOfAMasterThatLeftAndJoined(t *testing.T) {
	for i := range 8 {
		replaced := i == 0 // else c is removed and added; whether B wins then depends on chance
		inBubbleWith(t, 3, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
			c.leftAndJoined(replaced)
		})
	}
}

func (c *testCluster) leftAndJoined(replaced bool) {
	c.t.Helper()
	away, ways := c.redlockdOver(c.cfg.Masters)
	c.masters[2].kill()
	c.masters[2].startEmpty()
	c.serves(c.q, 3)
	c.serves(away, 3)
	for _, w := range ways {
		w.leads(noRoute)
	}
	list := c.listed("c")
	if replaced {
		list = c.listed("c", c.join("x"))
	}
	c.change(c.q, list)
	c.reaches(c.q, 2, "final")
	c.serves(c.q, len(list))
	time.Sleep(10 * time.Second) // the marks drop c's seat
	c.stop(c.q)
	second := c.redlockdOf(list)
	c.serves(second, len(list))
	joins := c.server("run-new")
	joins.set(func() { joins.Offset = -20 * 365 * 24 * time.Hour }) // its clock is wrong
	again := c.moved("c", joins)
	c.change(second, again)
	c.reaches(second, 3, "final")
	c.serves(second, 3)
	c.masters[0].kill()
	c.want(do(second, acquire("k", "A", 25*time.Second)), Won) // on b and the new c
	c.masters[0].mend()
	for i, name := range []string{"a", "b", "c"} {
		ways[name].leads(c.masters[i].dial)
	}
	for range 100 {
		time.Sleep(200 * time.Millisecond)
		if o := do(away, acquire("k", "B", time.Second)); o.Verdict == Won {
			c.t.Fatal("a second holder")
		}
	}
}

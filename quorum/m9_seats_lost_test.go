package quorum

import (
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// begunAnew has all masters lose their memory a while later, and begins the cluster anew, by
// -bootstrap or by a redlockd that knows nothing of before.
func (c *testCluster) begunAnew(bootstrap bool) {
	c.t.Helper()
	c.stop(c.q)
	time.Sleep(time.Minute)
	for _, f := range c.masters[:len(c.cfg.Masters)] {
		f.kill()
		f.startEmpty()
	}
	if bootstrap {
		if err := cluster.Bootstrap(c.t.Context(), c.cfg, hclog.NewNullLogger()); err != nil {
			c.t.Fatal(err)
		}
	}
	c.q = c.redlockd()
	c.serves(c.q, len(c.cfg.Masters))
}

// TestM9SeatsOfBeforeTheMarksWereLost checks that a redlockd that was cut off while all
// masters were lost, and others began them anew, takes no seat back for servers that are gone
// (M9, M6, why 134).
func TestM9SeatsOfBeforeTheMarksWereLost(t *testing.T) {
	for i := range 10 { // which of two seats of one epoch is later depends on chance
		bootstrap := i%2 == 0
		inBubbleWith(t, 3, short, func(c *testCluster) {
			c.begunAnew(bootstrap)
			away, ways := c.redlockdOver(c.cfg.Masters)
			c.serves(away, 3)
			for _, w := range ways {
				w.leads(noRoute)
			}
			c.begunAnew(bootstrap)
			for i, name := range []string{"a", "b", "c"} {
				ways[name].leads(c.masters[i].dial)
			}
			for range 20 {
				time.Sleep(time.Second)
				if s := c.q.Status(); s.Voting != 3 {
					t.Fatalf("bootstrap %v: masters that lost nothing do not vote: %+v", bootstrap, s.Masters)
				}
			}
			c.serves(away, 3)
		})
	}
}

// TestM9ServerOfBeforeABootstrap checks that a server whose seat was recorded before all
// other masters were lost does not vote by that seat in the cluster that was made anew with
// another server under its name (M9, M6, why 134).
func TestM9ServerOfBeforeABootstrap(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *Config) { cfg.MaxTTL = 30 * time.Second }, func(c *testCluster) {
		list := c.moved("a", c.server("run-new"))
		moved, ways := c.redlockdOver(list)
		c.stop(c.q)
		c.serves(moved, 3)
		ways["b"].leads(noRoute)
		ways["c"].leads(noRoute)
		c.begunAnew(true)
		old, oldWays := c.redlockdOver(c.cfg.Masters)
		c.serves(old, 3)
		c.stop(c.q)
		oldWays["c"].leads(noRoute)
		time.Sleep(time.Second)
		c.want(do(old, acquire("k", "A", 30*time.Second)), Won) // on the old a, and b
		ways["c"].leads(c.masters[2].dial)
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			if o := do(moved, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatal("a second holder")
			}
		}
	})
}

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
			if s := moved.Status().Masters[0]; s.State == Voting {
				t.Errorf("restarted %v: the new server votes: %+v", restarted, s)
			}
		})
	}
}

// TestM9SeatOfAMasterThatLeftAndJoined checks that a master that joins the list again does
// not get its seat by an epoch that its former server has had: a redlockd that was cut off
// meanwhile still remembers that one, and would give the seat back to the former server,
// which votes at once (M9, why 134).
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

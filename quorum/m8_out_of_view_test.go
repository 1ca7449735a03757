package quorum

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// markOf returns a master's mark.
func (c *testCluster) markOf(master int) *mark.Mark {
	c.t.Helper()
	return c.masters[master].markOf(c.t)
}

// over returns a list whose masters are reached over ways.
func over(list []cluster.Master, ways map[string]*way) []cluster.Master {
	list = slices.Clone(list)
	for i := range list {
		if w := ways[list[i].Name]; w != nil {
			list[i].Dial = w.connect
		}
	}
	return list
}

// M8: e is replaced by f, which is closed on a b c while d and e are cut off. R1 loses sight of
// a and b, which restart empty and begin anew with the old list of R2: A on a b e. Then R1
// reaches d: B on c d f.
func TestM8FinalByWhatIsOutOfView(t *testing.T) {
	inBubbleWith(t, 5, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
		one, ways := c.redlockdOver(c.cfg.Masters)
		time.Sleep(5 * time.Second)
		c.stop(c.q)
		c.masters[3].kill()
		c.masters[4].kill()
		time.Sleep(time.Second)
		list := over(c.listed("e", c.join("f")), ways)
		c.change(one, list)
		c.reaches(one, 2, "closed")
		for !c.markOf(5).Real {
			time.Sleep(100 * time.Millisecond)
		}
		for _, name := range []string{"a", "b", "d", "e"} {
			ways[name].leads(noRoute)
		}
		if s := one.Status(); s.Phase != "closed" {
			t.Fatalf("is %s", s.Phase)
		}
		c.loses(0, 1)
		c.masters[3].mend()
		c.masters[4].mend()
		old, oldWays := c.redlockdOver(without(c.cfg.Masters, "c"))
		time.Sleep(3 * time.Minute)
		oldWays["d"].leads(noRoute)
		time.Sleep(time.Second)
		c.want(do(old, acquire("k", "A", 30*time.Second)), Won)
		taken := time.Now()
		ways["d"].leads(c.masters[3].dial)
		for time.Since(taken) < 29*time.Second {
			if o := do(one, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatalf("two holders after %v", time.Since(taken))
			}
			time.Sleep(250 * time.Millisecond)
		}
	})
}

// M8: c is replaced by x. R1 and R3 remember phases of that when a b c lose their marks and
// begin anew with the old list of R2: A on b c. R3 writes what it remembers to a and b, and R1
// takes it for what it saw before: B on a x.
func TestM8RemadeByAnother(t *testing.T) {
	for _, phases := range [][2]string{{"final", "announced"}, {"closed", "announced"}} {
		t.Run(phases[0]+" "+phases[1], func(t *testing.T) {
			inBubbleWith(t, 3, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
				c.remadeByAnother(phases[0], phases[1])
			})
		})
	}
}

func (c *testCluster) remadeByAnother(first, third string) {
	c.t.Helper()
	list := c.listed("c", c.join("x"))
	old, oldWays := c.redlockdOver(c.cfg.Masters)
	time.Sleep(5 * time.Second)
	for _, w := range oldWays {
		w.leads(noRoute)
	}
	c.change(c.q, list)
	c.reaches(c.q, 2, "announced")
	one, ways := c.redlockdOver(list)
	three, threeWays := c.redlockdOver(list)
	c.reaches(three, 2, third)
	for _, w := range threeWays {
		w.leads(noRoute)
	}
	c.reaches(one, 2, first)
	for !c.markOf(3).Real {
		time.Sleep(100 * time.Millisecond)
	}
	for _, name := range []string{"a", "b", "x"} {
		ways[name].leads(noRoute)
	}
	c.serves(c.q, 3)
	c.stop(c.q)
	c.loses(0, 1, 2)
	for i, name := range []string{"a", "b", "c"} {
		oldWays[name].leads(c.masters[i].dial)
	}
	time.Sleep(2 * time.Minute)
	c.want(do(old, acquire("before", "A", 30*time.Second)), Won) // in all marks
	oldWays["a"].leads(noRoute)
	time.Sleep(time.Second)
	c.want(do(old, acquire("k", "A", 30*time.Second)), Won)
	taken := time.Now()
	threeWays["a"].leads(c.masters[0].dial)
	threeWays["b"].leads(c.masters[1].dial)
	time.Sleep(3 * time.Second)
	ways["a"].leads(c.masters[0].dial)
	ways["b"].leads(c.masters[1].dial)
	ways["x"].leads(c.masters[3].dial)
	for time.Since(taken) < 29*time.Second {
		if o := do(one, acquire("k", "B", time.Second)); o.Verdict == Won {
			c.t.Fatalf("two holders after %v", time.Since(taken))
		}
		time.Sleep(250 * time.Millisecond)
	}
}

// M8: e is replaced by f while d and e are cut off. R1 closes that on a, and then on b and c. In
// between, a restarts empty and begins anew with the old list of R2: A on a d e, B on b c f. No
// majority was ever closed at one time.
func TestM8ClosedOneByOne(t *testing.T) {
	inBubbleWith(t, 5, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 10*time.Second }, func(c *testCluster) {
		old, oldWays := c.redlockdOver(c.cfg.Masters)
		one, ways := c.redlockdOver(c.cfg.Masters)
		time.Sleep(5 * time.Second)
		c.stop(c.q)
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			oldWays[name].leads(noRoute)
		}
		ways["d"].leads(noRoute)
		ways["e"].leads(noRoute)
		c.change(one, over(c.listed("e", c.join("f")), ways))
		c.reaches(one, 2, "announced")
		time.Sleep(9 * time.Second)
		ways["b"].leads(noRoute)
		ways["c"].leads(noRoute)
		for c.markOf(0).Phase != mark.Closed {
			time.Sleep(10 * time.Millisecond)
		}
		ways["a"].leads(noRoute)
		c.loses(0)
		for i, name := range []string{"a", "b", "c", "d", "e"} {
			oldWays[name].leads(c.masters[i].dial)
		}
		time.Sleep(10 * time.Second)
		for i, name := range []string{"b", "c"} {
			oldWays[name].leads(noRoute)
			ways[name].leads(c.masters[1+i].dial)
		}
		time.Sleep(70 * time.Second)
		c.want(do(old, acquire("k", "A", 30*time.Second)), Won)
		taken := time.Now()
		for time.Since(taken) < 29*time.Second {
			if o := do(one, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatalf("two holders after %v", time.Since(taken))
			}
			time.Sleep(250 * time.Millisecond)
		}
	})
}

// TestM8ClosedAtOnce checks that once a majority of the marks is closed, no lock is
// granted under the previous list any more, not even to an operation that was sent
// under an announced mark before the next look (M8).
func TestM8ClosedAtOnce(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		old := c.redlockd()
		time.Sleep(3 * time.Second)
		c.change(c.q, c.listed("e", c.join("f")))
		c.reaches(c.q, 2, "announced")
		time.Sleep(c.cfg.Handover - 2*time.Second)
		given := 0
		var closed time.Time
		for n := 0; closed.IsZero() || time.Since(closed) < 1500*time.Millisecond; n++ {
			if closed.IsZero() && c.q.Status().Phase == "closed" {
				closed = time.Now()
			}
			o := do(old, acquire(fmt.Sprint("k", n), "t", time.Second))
			switch {
			case o.Verdict == Won && closed.IsZero():
				given++
			case o.Verdict == Won:
				t.Fatalf("the list before gave a lock %v after it was closed", time.Since(closed))
			}
			time.Sleep(10 * time.Millisecond)
		}
		if given == 0 {
			t.Error("the list before gave no lock while the change was announced")
		}
	})
}

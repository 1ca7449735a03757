package quorum

import (
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// TestM8AnnouncedByTheMasterThatLeaves checks that a change is completed after all
// instances restarted with the new list, which does not contain e (M8). Before, e was
// being replaced by f while c and d were cut off, so that the change was announced on a
// b e only.
func TestM8AnnouncedByTheMasterThatLeaves(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		list := c.listed("e", c.join("f"))
		c.masters[2].kill()
		c.masters[3].kill()
		c.change(c.q, list)
		c.reaches(c.q, 2, "announced")
		c.stop(c.q)
		c.masters[2].mend()
		c.masters[3].mend()
		c.serves(c.redlockdOf(list), 5)
	})
}

// TestM8ClosedByTheMasterThatLeaves checks the same for a change that was closed
// already (M8).
func TestM8ClosedByTheMasterThatLeaves(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		list := c.listed("e", c.join("f"))
		c.masters[2].kill()
		c.masters[3].kill()
		c.change(c.q, list)
		c.reaches(c.q, 2, "closed")
		c.stop(c.q)
		c.masters[2].mend()
		c.masters[3].mend()
		c.serves(c.redlockdOf(list), 5)
	})
}

// TestM8AnnouncedOnADiskThatIsGone checks that a change is completed although one of
// the two masters that bear it comes back with its earlier disk (M8).
func TestM8AnnouncedOnADiskThatIsGone(t *testing.T) {
	inBubbleWith(t, 3, short, func(c *testCluster) {
		list := c.listed("c", c.join("f"))
		before := c.masters[0].holds(mark.Key)
		c.change(c.q, list)
		c.reaches(c.q, 2, "announced")
		c.stop(c.q)
		c.masters[0].Set(mark.Key, before)
		c.serves(c.redlockdOf(list), 3)
	})
}

// TestM8FinalIsNotCompleted checks that a redlockd does not complete a change that a
// mark bears as final, nor an earlier phase of it (M8). Here c d e f were lost and
// begun anew with the old list: A would get the lock on d e f g, B on a b c h.
func TestM8FinalIsNotCompleted(t *testing.T) {
	inBubbleWith(t, 7, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
		list := c.finalOnAFew()
		old := c.redlockd()
		time.Sleep(3 * time.Second)
		c.masters[2].kill()
		time.Sleep(time.Second)
		c.want(do(old, acquire("k", "A", 30*time.Second)), Won)
		c.masters[2].mend()
		second := c.redlockdOf(without(list, "def"))
		c.wantNoSecondHolder(second, 25)
	})
}

// wantNoSecondHolder asks q for A's lock once a second.
func (c *testCluster) wantNoSecondHolder(q *Quorum, times int) {
	c.t.Helper()
	for range times {
		if o := do(q, acquire("k", "B", time.Second)); o.Verdict == Won {
			c.t.Fatal("two holders")
		}
		time.Sleep(time.Second)
	}
}

// finalOnAFew replaces g of a to g by h, where only a and h bear that this is final, b that it
// is closed, and the others were begun anew with the old list. It returns the new one.
func (c *testCluster) finalOnAFew() []cluster.Master {
	c.t.Helper()
	list, first := c.listed("g", c.join("h")), cluster.ListName(c.cfg.Masters)
	c.change(c.q, list)
	c.reaches(c.q, 2, "final")
	c.serves(c.q, 7)
	c.stop(c.q)
	c.bears(1, mark.Generation{Number: 2, Phase: mark.Closed, Masters: cluster.ListName(list), Before: first})
	for i := 2; i < 7; i++ {
		c.bears(i, mark.FirstGeneration(first))
	}
	return list
}

// TestM8FinalIsNotCompletedUnseen checks that a redlockd does not complete a change
// either if it reaches no master whose mark bears it as final, since one of those that
// it does not reach may (M8).
func TestM8FinalIsNotCompletedUnseen(t *testing.T) {
	inBubbleWith(t, 7, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
		c.redlockdOf(without(c.finalOnAFew(), "adefh"))
		time.Sleep(10 * time.Second)
		raw := c.masters[2].holds(mark.Key)
		if m, err := mark.Parse(raw); err != nil || m.Number != 1 {
			t.Errorf("the mark of c is of generation %d, %v", m.Number, err)
		}
	})
}

// TestM8FinalIsNotCompletedInView checks the same with all masters of the new list in
// view (M8): a b bear that the change of e for f is final, f that it is closed or announced,
// and c d e were lost and begun anew with the old list. A has the lock on c d e, B would get
// it on a b f.
func TestM8FinalIsNotCompletedInView(t *testing.T) {
	for _, phase := range []mark.Phase{mark.Closed, mark.Announced} {
		inBubbleWith(t, 5, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
			list, first := c.listed("e", c.join("f")), cluster.ListName(c.cfg.Masters)
			seats := c.masters[2].markOf(t).Seats
			c.change(c.q, list)
			c.reaches(c.q, 2, "final")
			c.serves(c.q, 5)
			c.stop(c.q)
			for i := 2; i < 5; i++ {
				c.bears(i, mark.FirstGeneration(first))
				c.masters[i].changeMark(func(m *mark.Mark) { m.Seats = seats })
			}
			c.bears(5, mark.Generation{Number: 2, Phase: phase, Masters: cluster.ListName(list), Before: first})
			old := c.redlockd()
			time.Sleep(4 * time.Second)
			c.want(do(old, acquire("k", "A", 30*time.Second)), Won)
			second := c.redlockdOf(list)
			c.wantNoSecondHolder(second, 25)
		})
	}
}

// TestM8NoChangeFromOneThatIsUnderWay checks that no change begins from a list to which
// a change is still under way (M8). Here b d f have missed that e left and came back: g
// would join by their votes, beside a c e.
func TestM8NoChangeFromOneThatIsUnderWay(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		list, first := c.listed("e", c.join("f")), cluster.ListName(c.cfg.Masters)
		c.change(c.q, list)
		c.reaches(c.q, 2, "final")
		c.serves(c.q, 5)
		c.bears(2, mark.Generation{Number: 3, Phase: mark.Final, Masters: first, Before: cluster.ListName(list)})
		time.Sleep(3 * time.Second)
		c.bears(0, mark.Generation{Number: 4, Phase: mark.Announced, Masters: cluster.ListName(list), Before: first})
		time.Sleep(3 * time.Second)
		c.cfg.Masters = list
		c.change(c.q, c.listed("c", c.join("g")))
		time.Sleep(time.Minute)
		s := c.q.Status()
		if s.Generation != 4 || slices.ContainsFunc(s.Masters, func(m cluster.MasterStatus) bool { return m.Name == "g" }) {
			t.Errorf("generation %d is %s, want 4: %+v", s.Generation, s.Phase, s.Masters)
		}
	})
}

// TestM8HalfAnnounced checks that a change that only half of four marks bear (b and c:
// d leaves) does not let two clients have a lock while another one (c leaves) is asked
// for: A on b c by one list, B on a d by the other (M8).
func TestM8HalfAnnounced(t *testing.T) {
	inBubbleWith(t, 4, short, func(c *testCluster) {
		first, one := c.cfg.Masters, c.listed("d")
		half := mark.Generation{Number: 2, Phase: mark.Announced, Masters: cluster.ListName(one), Before: cluster.ListName(first)}
		c.bears(1, half)
		c.bears(2, half)
		early := c.redlockdOf(without(one, "a"))
		time.Sleep(3 * time.Second)
		c.want(do(early, acquire("k", "A", 5*time.Second)), Won)
		c.change(c.q, c.listed("c"))
		c.wantNoSecondHolder(c.q, 4)
	})
}

// TestM8LessThanHalfAnnounced checks that a change to a shorter list that too few marks
// bear is not completed: another change may just be announced on the other masters
// (M8).
func TestM8LessThanHalfAnnounced(t *testing.T) {
	inBubbleWith(t, 4, short, func(c *testCluster) {
		one := c.listed("d")
		c.bears(1, mark.Generation{Number: 2, Phase: mark.Announced, Masters: cluster.ListName(one), Before: cluster.ListName(c.cfg.Masters)})
		c.redlockdOf(without(one, "a"))
		time.Sleep(time.Minute)
		if o := c.want(do(c.q, acquire("k", "t", time.Second)), Won); !confirmed(o) {
			t.Fatal("not in time")
		}
		for i, f := range c.masters {
			raw := f.holds(mark.Key)
			if m, err := mark.Parse(raw); err != nil || i != 1 && m.Number != 1 {
				t.Errorf("the mark of %s is of generation %d, %v", f.Name, m.Number, err)
			}
		}
	})
}

// TestM8RemovedByTheMasterThatLeaves checks that the removal of one of four masters is
// completed although another one was cut off when it was announced (M8).
func TestM8RemovedByTheMasterThatLeaves(t *testing.T) {
	inBubbleWith(t, 4, short, func(c *testCluster) {
		list := c.listed("d")
		c.masters[2].kill()
		c.change(c.q, list)
		c.reaches(c.q, 2, "announced")
		c.stop(c.q)
		c.masters[2].mend()
		c.serves(c.redlockdOf(list), 3)
	})
}

// TestM8ClosedByTheMasterThatStays checks that a change from two masters to one becomes
// final although all instances were restarted with the new list once it was closed, so that
// they see one of the two marks (M8).
func TestM8ClosedByTheMasterThatStays(t *testing.T) {
	inBubbleWith(t, 2, short, func(c *testCluster) {
		list := c.listed("b")
		c.change(c.q, list)
		c.reaches(c.q, 2, "closed")
		time.Sleep(time.Second)
		c.stop(c.q)
		c.masters[1].kill()
		q := c.redlockdOf(list)
		c.reaches(q, 2, "final")
		c.serves(q, 1)
	})
}

// TestM8AnnouncedOutOfReach checks that the status tells of a change from two masters to one
// that no instance can complete, as all were restarted with the new list, and that one which is
// started with the old file, and reloaded, completes it (docs/operations.md).
func TestM8AnnouncedOutOfReach(t *testing.T) {
	inBubbleWith(t, 2, short, func(c *testCluster) {
		first, list := c.cfg.Masters, c.listed("b")
		c.stop(c.q)
		c.bears(0, mark.Generation{Number: 2, Phase: mark.Announced, Masters: cluster.ListName(list), Before: cluster.ListName(first)})
		q := c.redlockdOf(list)
		time.Sleep(time.Minute)
		if s := q.Status(); s.Generation != 2 || s.Phase != "announced" {
			t.Errorf("generation %d is %s", s.Generation, s.Phase)
		}
		old := c.redlockdOf(first)
		time.Sleep(3 * time.Second)
		c.change(old, list)
		c.reaches(old, 2, "final")
		c.reaches(q, 2, "final")
		c.serves(q, 1)
	})
}

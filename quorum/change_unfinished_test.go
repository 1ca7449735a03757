package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// M8: e is replaced by f while c and d are cut off, so that the change is announced
// on a b e only. Then all redlockd restart with the new list, by which nobody asks e.
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

// The same where the change is closed already.
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

// M8: one of two masters that bear a change comes back with its disk of before.
func TestM8AnnouncedOnADiskThatIsGone(t *testing.T) {
	inBubbleWith(t, 3, short, func(c *testCluster) {
		list := c.listed("c", c.join("f"))
		before, err := c.masters[0].Get(mark.Key)
		if err != nil {
			t.Fatal(err)
		}
		c.change(c.q, list)
		c.reaches(c.q, 2, "announced")
		c.stop(c.q)
		if err := c.masters[0].Set(mark.Key, before); err != nil {
			t.Fatal(err)
		}
		c.serves(c.redlockdOf(list), 3)
	})
}

// M8: what a mark says is final is not completed, nor what came before it. Here c d e f were
// lost and begun anew with the old list: A on d e f g, B on a b c h.
func TestM8FinalIsNotCompleted(t *testing.T) {
	inBubbleWith(t, 7, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
		list, first := c.listed("g", c.join("h")), cluster.ListName(c.cfg.Masters)
		c.change(c.q, list)
		c.reaches(c.q, 2, "final")
		c.serves(c.q, 7)
		c.stop(c.q)
		c.bears(1, mark.Generation{Number: 2, Phase: mark.Closed, Masters: cluster.ListName(list), Before: first})
		for i := 2; i < 7; i++ {
			c.bears(i, mark.FirstGeneration(first))
		}
		old := c.redlockd()
		time.Sleep(3 * time.Second)
		c.masters[2].kill()
		time.Sleep(time.Second)
		c.want(do(old, acquire("k", "A", 30*time.Second)), Won)
		c.masters[2].mend()
		second := c.redlockdOf(without(list, "def"))
		for range 25 {
			if o := do(second, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatal("two holders")
			}
			time.Sleep(time.Second)
		}
	})
}

// The same where nobody who bears that it is final can be reached: what was not looked at
// may be just that.
func TestM8FinalIsNotCompletedUnseen(t *testing.T) {
	inBubbleWith(t, 7, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
		list, first := c.listed("g", c.join("h")), cluster.ListName(c.cfg.Masters)
		c.change(c.q, list)
		c.reaches(c.q, 2, "final")
		c.serves(c.q, 7)
		c.stop(c.q)
		c.bears(1, mark.Generation{Number: 2, Phase: mark.Closed, Masters: cluster.ListName(list), Before: first})
		for i := 2; i < 7; i++ {
			c.bears(i, mark.FirstGeneration(first))
		}
		c.redlockdOf(without(list, "adefh"))
		time.Sleep(10 * time.Second)
		raw, err := c.masters[2].Get(mark.Key)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := mark.Parse(raw); err != nil || m.Number != 1 {
			t.Errorf("the mark of c is of generation %d, %v", m.Number, err)
		}
	})
}

// M8: nothing is changed from a list to which a change is not over. Here b d f have missed
// that e went back and forth: g would come with their votes, beside a c e.
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
		if s := c.q.Status(); s.Generation != 2 {
			t.Errorf("generation %d is %s, want 2", s.Generation, s.Phase)
		}
	})
}

// M8: of four masters b and c bear that d goes, and that c goes is to be announced on
// all: A on b c by the one list, B on a d by the other.
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
		for range 4 {
			if o := do(c.q, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatal("two holders")
			}
			time.Sleep(time.Second)
		}
	})
}

// M8: a shorter list for which too few marks bear its change is not completed: another
// change may be announced on the others right now.
func TestM8LessThanHalfAnnounced(t *testing.T) {
	inBubbleWith(t, 4, short, func(c *testCluster) {
		one := c.listed("d")
		c.bears(1, mark.Generation{Number: 2, Phase: mark.Announced, Masters: cluster.ListName(one), Before: cluster.ListName(c.cfg.Masters)})
		c.redlockdOf(without(one, "a"))
		time.Sleep(time.Minute)
		if o := c.want(do(c.q, acquire("k", "t", time.Second)), Won); o.Confirm(o.Clock()) != nil {
			t.Fatal("not in time")
		}
		for i, f := range c.masters {
			raw, _ := f.Get(mark.Key)
			if m, err := mark.Parse(raw); err != nil || i != 1 && m.Number != 1 {
				t.Errorf("the mark of %s is of generation %d, %v", f.name, m.Number, err)
			}
		}
	})
}

// M8: a master is removed from four while another one is cut off.
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

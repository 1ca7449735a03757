package quorum

import (
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// A change that too few marks record is completed by what is in view (M8). Here b bears a
// change to our list as final, and a the first state of our list; but before that is
// raised, a has got a mark of another list.

// completing runs a test with one redlockd, a cable between it and a, and the states of
// the two marks.
func completing(t *testing.T, test func(c *testCluster, a *cable, first, second mark.Generation)) {
	inBubbleWith(t, 2, short, func(c *testCluster) {
		ours, other := cluster.ListName(c.cfg.Masters), cluster.ListName(c.listed("b", c.join("f")))
		a := c.throughCable(0)
		c.stop(c.q)
		c.q = c.redlockd()
		time.Sleep(3*time.Second + 500*time.Millisecond)
		test(c, a, mark.Generation{Number: 7, Phase: mark.Final, Masters: other, Before: ours},
			mark.Generation{Number: 8, Phase: mark.Final, Masters: ours, Before: other})
		time.Sleep(5 * time.Second)
		raw := c.masters[0].holds(mark.Key)
		if m, err := mark.Parse(raw); err != nil || m.Number != 7 {
			t.Errorf("a's mark is %q, want generation 7", raw)
		}
	})
}

// TestM8NotCompletedByMemory checks that nothing is completed any more when it could have
// been a while ago.
func TestM8NotCompletedByMemory(t *testing.T) {
	completing(t, func(c *testCluster, a *cable, first, second mark.Generation) {
		a.cut(true)
		c.bears(1, second)
		time.Sleep(1200 * time.Millisecond)
		c.bears(0, first)
		time.Sleep(3 * time.Second)
		a.cut(false)
	})
}

// TestM8NotCompletedByAnEarlierLook checks that the mark that is raised is the one by
// which that was decided.
func TestM8NotCompletedByAnEarlierLook(t *testing.T) {
	completing(t, func(c *testCluster, _ *cable, first, second mark.Generation) {
		c.masters[0].away(20 * time.Millisecond) // b's look ends first
		time.Sleep(time.Second)
		c.bears(0, first)
		c.bears(1, second)
	})
}

// TestM8NotCompletedBehindALook checks the same where the mark changes after the look.
func TestM8NotCompletedBehindALook(t *testing.T) {
	completing(t, func(c *testCluster, _ *cable, first, second mark.Generation) {
		f := c.masters[0]
		f.away(20 * time.Millisecond)
		time.Sleep(time.Second)
		c.bears(1, second)
		for n := len(f.commands(0)); !slices.Contains(f.commands(n), "GET "+mark.Key); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Millisecond)
		c.bears(0, first)
	})
}

package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// TestM8BegunAnewWithTheNewList checks that masters that begin anew vote at once, although a
// redlockd remembers a change that their marks have lost (M8). R1 knows that a change is closed (or announced) and
// loses sight of all masters, which lose their marks and begin anew with the new list.
func TestM8BegunAnewWithTheNewList(t *testing.T) {
	for _, phase := range []string{"announced", "closed"} {
		t.Run(phase, func(t *testing.T) {
			inBubbleWith(t, 3, short, func(c *testCluster) {
				one, ways := c.redlockdOver(c.cfg.Masters)
				time.Sleep(5 * time.Second)
				c.stop(c.q)
				x := c.join("x")
				list := c.listed("c", x)
				wx := &way{dial: x.dial}
				ways["x"] = wx
				c.change(one, over(list, ways))
				c.reaches(one, 2, phase)
				time.Sleep(2 * time.Second)
				for _, w := range ways {
					w.leads(noRoute)
				}
				c.loses(0, 1, 3)
				c.masters[2].kill()
				two := c.redlockdOf(list)
				time.Sleep(2 * time.Minute)
				c.serves(two, 3)
				for i, n := range []string{"a", "b", "", "x"} {
					if n != "" {
						ways[n].leads(c.masters[i].dial)
					}
				}
				time.Sleep(time.Minute)
				c.serves(one, 3)
			})
		})
	}
}

// TestM8AbandonedChangeIsForgotten checks that an abandoned change that no mark records any
// more refuses no longer lock (M8). R1 has seen an abandoned change on a, which begins
// anew while R1 cannot reach it. No mark bears the change any more, and R1 refuses a longer
// lock for ever.
func TestM8AbandonedChangeIsForgotten(t *testing.T) {
	inBubbleWith(t, 3, low, func(c *testCluster) {
		one, ways := c.redlockdOver(c.cfg.Masters)
		time.Sleep(5 * time.Second)
		c.stop(c.q)
		c.bears(0, mark.Generation{Number: 2, Phase: mark.Announced, Masters: cluster.ListName(c.listed("c", c.join("x"))), Before: cluster.ListName(c.cfg.Masters)})
		time.Sleep(5 * time.Second)
		ways["a"].leads(noRoute)
		time.Sleep(5 * time.Second)
		c.loses(0)
		two := c.redlockd()
		time.Sleep(2 * time.Minute)
		c.serves(two, 3)
		c.stop(two)
		ways["a"].leads(c.masters[0].dial)
		time.Sleep(time.Minute)
		for i := range 3 {
			t.Logf("%+v", c.markOf(i).Generation)
		}
		t.Logf("%d vote", one.Status().Voting)
		do(one, acquire("first", "t", 5*time.Minute)) // all marks are told
		time.Sleep(5 * time.Second)
		o := do(one, acquire("long", "t", 5*time.Minute))
		if o.Verdict != Won {
			t.Errorf("refused: %v", o.Err)
		}
	})
}

// TestM8CompletedBesideANewBeginning checks that a redlockd which completes a change, since another
// one has begun all masters anew with the new list, stays connected to the master that leaves
// until then (M8, why 128). Of a and b, only b records that x replaces it when a restarts empty.
func TestM8CompletedBesideANewBeginning(t *testing.T) {
	inBubbleWith(t, 2, short, func(c *testCluster) {
		list := c.listed("b", c.join("x"))
		c.bears(1, mark.Generation{Number: 2, Phase: mark.Announced, Masters: cluster.ListName(list), Before: cluster.ListName(c.cfg.Masters)})
		c.loses(0)
		c.change(c.q, list)
		time.Sleep(time.Minute)
		if s := c.q.Status(); s.Generation != 1 || s.Voting != 1 {
			t.Errorf("generation %d, %d vote", s.Generation, s.Voting)
		}
		two := c.redlockdOf(list)
		c.reaches(two, 2, "final")
		c.serves(c.q, 2)
		c.serves(two, 2)
	})
}

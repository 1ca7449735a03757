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

// completing runs a test with one instance, a cable between it and a, and the states of
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

// M8: c is replaced by x. What R1 writes to make that final hangs in the network until a b c
// are flushed, and R2 has begun them anew with the old list: A on a c by that list, B on b x
// by the new one. Which of two servers has a seat of one epoch is left to their random ids,
// so it is tried several times.
func TestM8FinalThatComesLate(t *testing.T) {
	for range 4 {
		inBubbleWith(t, 3, short, func(c *testCluster) {
			before, list := slices.Clone(c.cfg.Masters), c.listed("c", c.join("x"))
			c.change(c.q, list)
			c.reaches(c.q, 2, "closed")
			c.stop(c.q)
			slow := &detour{let: make(chan struct{})}
			defer slow.release()
			for i := range list {
				if name := list[i].Name; name != "a" {
					list[i].Dial = slow.dial(c.masters[slices.IndexFunc(c.masters, func(f *fakeMaster) bool { return f.Name == name })])
				}
			}
			one, waysOfOne := c.redlockdOver(list)
			for slow.count() < 2 {
				time.Sleep(10 * time.Millisecond)
			}
			waysOfOne["a"].leads(noRoute)
			for _, f := range c.masters[:3] {
				f.FlushAll()
			}
			old, waysOfOld := c.redlockdOver(before)
			c.serves(old, 3)
			waysOfOld["b"].leads(noRoute)
			time.Sleep(time.Second)
			c.want(do(old, acquire("k", "A", 5*time.Second)), Won)
			taken := time.Now()
			slow.release()
			for time.Since(taken) < 4*time.Second {
				if o := do(one, acquire("k", "B", time.Second)); o.Verdict == Won {
					t.Fatalf("two holders after %v", time.Since(taken))
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
}

// remembers has R1 see how c is replaced by x until a phase, and lose sight of a b c,
// which lose their marks and get new ones of the old list. Then A gets the lock on b c by that
// list. It returns R1, which sees a b again, and x.
func (c *testCluster) remembers(phase string) *Quorum {
	c.t.Helper()
	list := c.listed("c", c.join("x"))
	c.change(c.q, list)
	c.reaches(c.q, 2, "announced")
	one, ways := c.redlockdOver(without(list, "x"))
	c.reaches(one, 2, phase)
	for _, name := range []string{"a", "b"} {
		ways[name].leads(noRoute)
	}
	c.serves(c.q, 3)
	c.stop(c.q)
	c.loses(0, 1, 2)
	old, oldWays := c.redlockdOver(c.cfg.Masters)
	time.Sleep(2 * time.Minute)
	oldWays["a"].leads(noRoute)
	time.Sleep(time.Second)
	c.want(do(old, acquire("k", "A", 30*time.Second)), Won)
	ways["a"].leads(c.masters[0].dial)
	ways["b"].leads(c.masters[1].dial)
	ways["x"].leads(c.masters[3].dial)
	return one
}

// M8: what a redlockd remembers of the list is not written to marks that were begun anew
// with the list before meanwhile: A on b c, B on a x. Which of two servers has a seat of one
// epoch is left to their random ids, so it is tried several times.
func TestM8FinalThatIsRemembered(t *testing.T) {
	for _, phase := range []string{"closed", "closed", "closed", "final", "final", "final"} {
		inBubbleWith(t, 3, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
			one := c.remembers(phase)
			time.Sleep(5 * time.Second)
			for range 40 {
				if o := do(one, acquire("k", "B", time.Second)); o.Verdict == Won {
					t.Fatal(phase + ": two holders")
				}
				time.Sleep(250 * time.Millisecond)
			}
		})
	}
}

// TestM8FinalOnTheMasterThatJoins checks that a change is completed although only the joining
// master recorded that it is final when the instance ended, and the master that leaves is gone
// (M8): until then, longer locks are refused.
func TestM8FinalOnTheMasterThatJoins(t *testing.T) {
	inBubbleWith(t, 2, short, func(c *testCluster) {
		list := c.listed("a", c.join("f"))
		c.change(c.q, list)
		c.reaches(c.q, 2, "closed")
		closed := c.masters[1].markOf(t).Generation
		c.reaches(c.q, 2, "final")
		c.serves(c.q, 2)
		c.stop(c.q)
		c.masters[0].kill()
		c.bears(1, closed)
		q := c.redlockdOf(list)
		c.reaches(q, 2, "final")
		c.want(do(q, acquire("k", "A", 5*time.Second)), Won)
	})
}

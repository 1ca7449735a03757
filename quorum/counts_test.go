package quorum

import (
	"testing"
	"time"
)

// TestVotesAndTimings checks that the votes of a slow master count as spare, those of a
// dead one as silent.
func TestVotesAndTimings(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.masters[3].set(func() { c.masters[3].Delay = 4 * time.Millisecond })
		c.masters[4].kill()
		time.Sleep(time.Second)
		before := c.q.Status()
		for range 10 {
			c.want(do(c.q, acquire("k", "t", time.Second)), Won)
			c.want(do(c.q, release("k", "t")), Won)
			time.Sleep(100 * time.Millisecond)
		}
		after := c.q.Status()
		for i, want := range []Votes{{Counted: 20}, {Counted: 20}, {Counted: 20}, {Spare: 20}, {Silent: 20}} {
			a, b := before.Masters[i].Votes, after.Masters[i].Votes
			if got := (Votes{Counted: b.Counted - a.Counted, Spare: b.Spare - a.Spare, Silent: b.Silent - a.Silent}); got != want {
				t.Errorf("master %d: %+v, want %+v", i, got, want)
			}
		}
		if n := after.Timings["acquire"].Count - before.Timings["acquire"].Count; n != 10 {
			t.Errorf("%d acquires timed, want 10", n)
		}
		slow := after.Masters[3].Batches
		if slow.Count == 0 || slow.Sum/time.Duration(slow.Count) < 4*time.Millisecond {
			t.Errorf("the slow master's batches took %v on average of %d", slow.Sum, slow.Count)
		}
		if after.UnderWay != 0 || after.Waiting != 0 {
			t.Errorf("%d under way, %d waiting", after.UnderWay, after.Waiting)
		}
	})
}

// TestRefusalsAreNotTimed checks that what is answered NOQUORUM, which takes microseconds, does
// not make locks look fast.
func TestRefusalsAreNotTimed(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", time.Second)), Won)
		c.want(do(c.q, acquire("k", "u", time.Second)), Held)
		for _, f := range c.masters[1:] {
			f.kill()
		}
		time.Sleep(time.Second)
		before := c.q.Status()
		c.want(do(c.q, acquire("j", "t", time.Second)), Undecided)
		c.want(do(c.q, release("k", "t")), Undecided)
		after := c.q.Status()
		if a, r := after.Timings["acquire"].Count, after.Timings["release"].Count; a != 2 || r != 0 {
			t.Errorf("%d acquires and %d releases are timed, want the two acquires that were decided", a, r)
		}
		if n := after.Counters.WithoutMajority - before.Counters.WithoutMajority; n != 2 {
			t.Errorf("%d were without a majority, want 2", n)
		}
	})
}

func TestWaitingIsCounted(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, f := range c.masters {
			f.freeze()
		}
		var outs []<-chan *Outcome
		for range 3 {
			outs = append(outs, start(c.q, release("k", "t")))
		}
		if s := c.q.Status(); s.UnderWay != 3 || s.Waiting != 2 {
			t.Errorf("%d under way, %d waiting, want 3 and 2", s.UnderWay, s.Waiting)
		}
		for _, out := range outs {
			<-out
		}
		for _, f := range c.masters {
			f.thaw()
		}
	})
}

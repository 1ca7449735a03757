package quorum

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// takeBarely takes a lock on the first three of five masters.
func (c *testCluster) takeBarely(op Op) {
	c.t.Helper()
	c.masters[3].kill()
	c.masters[4].kill()
	c.want(do(c.q, op), Won)
	c.masters[3].mend()
	c.masters[4].mend()
}

// M5, why 19: a step that ends a lock on one master, in either direction and
// of any size, gives it to nobody else.
func TestM5StepOfOneMaster(t *testing.T) {
	for _, step := range []time.Duration{5 * time.Minute, 2900 * time.Millisecond, 400 * time.Millisecond, -time.Minute} {
		inBubble(t, 5, func(c *testCluster) {
			c.takeBarely(acquire("k", "t", 2*time.Second))
			time.Sleep(time.Second)
			c.masters[0].set(func() { c.masters[0].offset = step })
			for began := time.Now(); time.Since(began) < 900*time.Millisecond; time.Sleep(10 * time.Millisecond) {
				if o := do(c.q, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
					t.Fatalf("a second holder after a step of %v", step)
				}
			}
			time.Sleep(3 * time.Second)
			if s := c.state(0); s.State != cluster.Quarantine || s.Reason != mark.WhyClock {
				t.Errorf("after a step of %v the status is %+v", step, s)
			}
			c.want(do(c.q, acquire("k2", "u", 2*time.Second)), Won)
			time.Sleep(15 * time.Second)
			if s := c.state(0); s.State != cluster.Voting {
				t.Errorf("later the status is %+v", s)
			}
		})
	}
}

// M5: the mark tells of a step before others rely on it, whatever the time
// between the look that sees it and those at the other masters, and also where
// the way to them takes most of a timeout.
func TestM5StepIsToldInTime(t *testing.T) {
	for _, way := range []time.Duration{time.Millisecond, 38 * time.Millisecond} {
		inBubble(t, 5, func(c *testCluster) {
			for _, f := range c.masters {
				f.set(func() { f.way = way })
				time.Sleep(170 * time.Millisecond)
			}
			for _, f := range c.masters {
				// It steps right after it was looked at.
				for n := len(f.commands(0)); !slices.Contains(f.commands(n), "TIME "); {
					time.Sleep(time.Millisecond)
				}
				f.set(func() { f.offset += time.Minute })
				began := time.Now()
				for {
					m, err := mark.Parse(f.holds(mark.Key))
					if err == nil && !m.Real {
						break
					}
					time.Sleep(5 * time.Millisecond)
				}
				if took := time.Since(began); took > c.warmingUp() {
					t.Errorf("the way takes %v: the step of master %s was told after %v, others wait %v", way, f.name, took, c.warmingUp())
				}
				time.Sleep(10 * time.Second)
			}
		})
	}
}

// M5: when a quorum jumps together it may be our own pause: this redlockd
// grants nothing for the greatest hold, and goes on with releases, reads and
// extends. One that starts meanwhile cannot tell, and grants nothing either.
func TestM5QuorumJumpsTogether(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		synctest.Wait()
		time.Sleep(time.Second)
		for _, f := range c.masters {
			f.set(func() { f.offset = 500 * time.Millisecond })
		}
		time.Sleep(2 * time.Second)
		o := c.want(do(c.q, acquire("other", "t", 10*time.Second)), Undecided)
		if !strings.Contains(o.Err.Error(), "stood still") {
			t.Errorf("error is %q", o.Err)
		}
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 10 * time.Second}), Won)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		c.want(do(c.q, release("k", "t")), Won)
		for i := range c.masters {
			if s := c.state(i); s.State != cluster.Voting {
				t.Errorf("a vote was taken: %+v", s)
			}
		}
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		c.want(do(other, acquire("other", "u", 10*time.Second)), Undecided)
		time.Sleep(25 * time.Second)
		c.want(do(other, acquire("other", "u", 10*time.Second)), Won)
		c.want(do(other, release("other", "u")), Won)
		c.want(do(c.q, acquire("other", "t", 10*time.Second)), Won)
	})
}

// M5: so does a database that is used for the first time after that.
func TestM5QuorumJumpedBeforeTheFirstUseOfADatabase(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		time.Sleep(2 * time.Second)
		for _, f := range c.masters {
			f.set(func() { f.offset = 500 * time.Millisecond })
		}
		time.Sleep(2 * time.Second)
		open := make(chan struct{})
		c.q.Open(3, func() { close(open) })
		<-open
		time.Sleep(2 * time.Second)
		k := acquire("k", "t", 10*time.Second)
		k.DB = 3
		o := c.want(do(c.q, k), Undecided)
		if !strings.Contains(o.Err.Error(), "stood still") {
			t.Errorf("error is %q", o.Err)
		}
	})
}

// M4, M5: a master that lost nothing in a restart is in quarantine all the same
// if its clock has stepped meanwhile.
func TestM5StepInARestartThatLosesNothing(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		f := c.masters[0]
		f.set(func() { f.aof = true })
		c.takeBarely(acquire("k", "t", 10*time.Second))
		time.Sleep(2 * time.Second)
		f.kill()
		f.set(func() { f.offset = time.Minute })
		f.startWithMemory()
		for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(50 * time.Millisecond) {
			if o := do(c.q, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder %v after the restart", time.Since(began))
			}
		}
	})
}

// M5: masters that step within a moment are not our own pause where they step
// by different times: they lose their votes for all.
func TestM5QuorumStepsApart(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 20*time.Second)), Won)
		time.Sleep(2 * time.Second)
		for i, f := range c.masters[:2] {
			f.set(func() { f.offset = time.Duration(i+1) * time.Minute })
		}
		time.Sleep(3 * time.Second)
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 20 * time.Second}), Undecided)
		other := c.redlockd()
		time.Sleep(2 * time.Second)
		c.want(do(other, acquire("k", "u", time.Second)), Undecided)
	})
}

// M5: nor is the one master that steps while we stand still.
func TestM5StepInAPause(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 20*time.Second)), Won)
		time.Sleep(2 * time.Second)
		for _, f := range c.masters {
			f.set(func() { f.offset = 300 * time.Millisecond })
		}
		// It is looked at last.
		c.masters[0].set(func() { c.masters[0].offset, c.masters[0].delay = time.Minute, 5*time.Millisecond })
		time.Sleep(2 * time.Second)
		o := c.want(do(c.q, acquire("other", "t", 10*time.Second)), Undecided)
		if !strings.Contains(o.Err.Error(), "stood still") {
			t.Errorf("error is %q", o.Err)
		}
		for i, want := range []cluster.MasterState{cluster.Quarantine, cluster.Voting, cluster.Voting, cluster.Voting, cluster.Voting} {
			if s := c.state(i); s.State != want {
				t.Errorf("status is %+v, want %s", s, want)
			}
		}
	})
}

// M5: a step is told in time also while another master freezes just when its
// mark is written.
func TestM5StepIsToldWhileAnotherFreezes(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		f := c.masters[1]
		f.set(func() { f.delay = 5 * time.Millisecond })
		looks := func() bool { // and TIME is on its way
			log := f.commands(0)
			return strings.HasPrefix(log[len(log)-1], "GET") && strings.HasPrefix(log[len(log)-2], "INFO")
		}
		for !looks() {
			time.Sleep(time.Millisecond)
		}
		f.freeze()
		c.masters[0].set(func() { c.masters[0].offset = time.Minute })
		time.Sleep(c.warmingUp())
		if m, err := mark.Parse(c.masters[0].holds(mark.Key)); err != nil || m.Real {
			t.Errorf("the mark is %+v, %v", m, err)
		}
	})
}

// warmUp is how long a redlockd waits for others to tell of a step.
func (c *testCluster) warmingUp() time.Duration {
	return clock.WarmUpTime(c.q.agreed.Greatest().Timeout)
}

// M5, V6: what was read of the clocks before a quorum of them stepped tells no
// expiry any more: an extend that is told lasts for its TTL on the clocks of now.
func TestM5ExtendAfterAQuorumStepped(t *testing.T) {
	const ttl = 10 * time.Second
	for phase := range 10 {
		inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.Timeout = 20 * time.Millisecond }, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "t", ttl)), Won)
			time.Sleep(2*time.Second + time.Duration(phase)*100*time.Millisecond)
			for _, f := range c.masters {
				f.set(func() { f.offset = 400 * time.Millisecond })
			}
			for range 60 {
				time.Sleep(50 * time.Millisecond)
				if o := do(c.q, extend("k", "t", ttl)); o.Verdict != Won {
					continue
				}
				keep := 0
				for _, f := range c.masters {
					f.SetTime(time.Now().Add(f.offset).Truncate(time.Millisecond))
					if f.TTL("k") >= ttl {
						keep++
					}
				}
				if keep < 2 {
					t.Errorf("phase %d: %d masters keep it for the %v that the client was told, want a majority", phase, keep, ttl)
				}
			}
		})
	}
}

package quorum

import (
	"fmt"
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

// TestM5StepOfOneMaster checks that a step that ends a lock on one master, in either
// direction and of any size, lets no other client take the lock (M5, why 91).
func TestM5StepOfOneMaster(t *testing.T) {
	for _, step := range []time.Duration{5 * time.Minute, 2900 * time.Millisecond, 400 * time.Millisecond, -time.Minute} {
		inBubble(t, 5, func(c *testCluster) {
			c.takeBarely(acquire("k", "t", 2*time.Second))
			time.Sleep(time.Second)
			c.masters[0].set(func() { c.masters[0].Offset = step })
			for began := time.Now(); time.Since(began) < 900*time.Millisecond; time.Sleep(10 * time.Millisecond) {
				if o := do(c.q, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
					t.Fatalf("a second holder after a step of %v", step)
				}
			}
			time.Sleep(3 * time.Second)
			if s := c.state(0); s.State != Quarantine || s.Reason != mark.WhyClock {
				t.Errorf("after a step of %v the status is %+v", step, s)
			}
			c.want(do(c.q, acquire("k2", "u", 2*time.Second)), Won)
			time.Sleep(15 * time.Second)
			if s := c.state(0); s.State != Voting {
				t.Errorf("later the status is %+v", s)
			}
		})
	}
}

// TestM5StepIsLoggedAsWhatItIs checks that a master whose clock stepped is not said to be two
// servers, although it has a new mark and its seat is still that of the one before (M5, M9).
func TestM5StepIsLoggedAsWhatItIs(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		var lines logged
		c.redlockdTelling(lines.logger())
		time.Sleep(5 * time.Second)
		for _, wait := range []time.Duration{0, 400 * time.Millisecond} {
			time.Sleep(wait)
			c.masters[0].set(func() { c.masters[0].Offset += time.Hour })
			time.Sleep(10 * time.Second)
		}
		if lines.countOf(mark.WhyClock) == 0 || lines.countOf(mark.WhyOtherServer)+lines.countOf(mark.WhyNobodyKnows) > 0 {
			t.Error(lines.text.String())
		}
	})
}

// TestM5StepIsToldInTime checks that a step is written into the mark before other
// instances rely on that clock, whatever the time between the look that sees it and
// those at the other masters, also if the way to them takes most of a timeout (M5).
func TestM5StepIsToldInTime(t *testing.T) {
	for _, way := range []time.Duration{time.Millisecond, 38 * time.Millisecond} {
		inBubble(t, 5, func(c *testCluster) {
			for _, f := range c.masters {
				f.away(way)
				time.Sleep(170 * time.Millisecond)
			}
			for _, f := range c.masters {
				// It steps right after a look.
				for n := len(f.commands(0)); !slices.Contains(f.commands(n), "TIME "); {
					time.Sleep(time.Millisecond)
				}
				f.set(func() { f.Offset += time.Minute })
				began := time.Now()
				for {
					m, err := mark.Parse(f.holds(mark.Key))
					if err == nil && !m.Real {
						break
					}
					time.Sleep(5 * time.Millisecond)
				}
				if took := time.Since(began); took > c.warmingUp() {
					t.Errorf("the way takes %v: the step of master %s was written after %v, others wait %v", way, f.Name, took, c.warmingUp())
				}
				time.Sleep(10 * time.Second)
			}
		})
	}
}

// TestM5QuorumJumpsTogether checks that after a quorum jumped together, which may be
// its own pause, a redlockd grants nothing for the greatest hold, but still releases,
// reads and extends (M5). One that starts meanwhile cannot tell which it was, and
// grants nothing either.
func TestM5QuorumJumpsTogether(t *testing.T) {
	for range 8 { // which mark is looked at first is chance (why 104)
		inBubble(t, 3, quorumJumpsTogether)
	}
}

func quorumJumpsTogether(c *testCluster) {
	c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
	synctest.Wait()
	time.Sleep(time.Second)
	for _, f := range c.masters {
		f.set(func() { f.Offset = 500 * time.Millisecond })
	}
	time.Sleep(3 * time.Second) // the next look sees the jump, and others are waited for: LookEvery + warmingUp, and two looks
	o := c.want(do(c.q, acquire("other", "t", 10*time.Second)), Undecided)
	if !strings.Contains(o.Err.Error(), "stood still") {
		c.t.Errorf("error is %q", o.Err)
	}
	c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 10 * time.Second}), Won)
	c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
	c.want(do(c.q, release("k", "t")), Won)
	for i := range c.masters {
		if s := c.state(i); s.State != Voting {
			c.t.Errorf("a vote was taken: %+v", s)
		}
	}
	other := c.redlockd()
	time.Sleep(3 * time.Second)
	c.want(do(other, acquire("other", "u", 10*time.Second)), Undecided)
	time.Sleep(25 * time.Second)
	c.want(do(other, acquire("other", "u", 10*time.Second)), Won)
	c.want(do(other, release("other", "u")), Won)
	c.want(do(c.q, acquire("other", "t", 10*time.Second)), Won)
}

// TestM5SilenceOfMaxTTL checks that after a quorum jumped together a redlockd grants nothing
// for as long as the longest lock of any instance may be held, but not for much longer,
// although the marks have that rounded up; and that it stays so (M5, trace 104).
func TestM5SilenceOfMaxTTL(t *testing.T) {
	for _, s := range []struct {
		name            string
		maxTTL, timeout time.Duration
	}{
		{"alone", 20 * time.Second, 0},
		{"alone for a day", 24 * time.Hour, 0},
		{"beside one with a greater padding", 20 * time.Second, 5 * time.Second},
	} {
		t.Run(s.name, func(t *testing.T) {
			inBubbleWith(t, 3, func(cfg *Config) { cfg.MaxTTL = s.maxTTL }, func(c *testCluster) {
				c.silenceOfMaxTTL(s.timeout)
			})
		})
	}
}

// silenceOfMaxTTL is the test beside a redlockd with this timeout; 0 is alone. Votes are not
// enough to tell when the silence ends: masters that jumped do not vote for a while after it.
func (c *testCluster) silenceOfMaxTTL(timeout time.Duration) {
	mine := c.cfg
	if timeout > 0 {
		c.cfg.Timeout, c.cfg.MaxTTL = timeout, time.Second
		c.redlockd()
		time.Sleep(2 * timeout) // the marks tell of its settings
	}
	longest := mine.Hold(mine.MaxTTL, max(mine.Settings().Padding(), 2*timeout))
	c.want(do(c.q, acquire("k", "t", mine.MaxTTL)), Won)
	for _, f := range c.masters {
		f.set(func() { f.Offset = 500 * time.Millisecond })
	}
	silence := c.q.cluster.Database(0).Silence
	for silence() == 0 {
		time.Sleep(time.Millisecond)
	}
	if most := longest + 2*time.Second + 2*timeout; silence() > most {
		c.t.Fatalf("silent for %v, want at most %v", silence(), most)
	}
	if longest > time.Hour {
		return // a try every 50 ms for a day
	}
	began := time.Now()
	for silence() > 0 {
		c.want(do(c.q, acquire("other", "t", time.Second)), Undecided)
		time.Sleep(50 * time.Millisecond)
	}
	if after := time.Since(began); after < longest {
		c.t.Errorf("silent for %v, while a lock may be held for %v", after, longest)
	}
	for do(c.q, acquire("other", "t", time.Second)).Verdict != Won {
		if time.Sleep(50 * time.Millisecond); time.Since(began) > longest+2*time.Second+2*timeout {
			c.t.Fatalf("nothing is granted after %v", time.Since(began))
		}
	}
	for range 100 {
		time.Sleep(100 * time.Millisecond)
		c.want(do(c.q, release("other", "t")), Won)
		c.want(do(c.q, acquire("other", "t", time.Second)), Won)
	}
}

// TestM5QuorumJumpsBeforeWhatWaits checks that an acquire that waits behind a batch when
// a quorum is seen to have jumped together takes nothing either (M5).
func TestM5QuorumJumpsBeforeWhatWaits(t *testing.T) {
	for _, n := range []int{1, 3} {
		for after := 9 * time.Millisecond; after < 12*time.Millisecond; after += 250 * time.Microsecond {
			inBubble(t, n, func(c *testCluster) {
				c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
				for _, f := range c.masters {
					f.away(2 * time.Millisecond)
					f.set(func() { f.Offset = time.Minute })
				}
				stepped := time.Now()
				busy := func(until time.Duration) { // so that a batch is always under way
					for i := 0; time.Since(stepped) < until; i++ {
						start(c.q, acquire(fmt.Sprint("busy", until, i), "t", time.Second))
						time.Sleep(100 * time.Microsecond)
					}
				}
				busy(after)
				taken := start(c.q, acquire("k", "u", 10*time.Second))
				busy(after + 20*time.Millisecond)
				if o := <-taken; o.Verdict == Won {
					t.Errorf("of %d masters: a second holder, who asked %v after the step", n, after)
				}
			})
		}
	}
}

// TestM5QuorumJumpedBeforeTheFirstUseOfADatabase checks that after a common jump a
// redlockd grants nothing either in a database that is used for the first time then
// (M5).
func TestM5QuorumJumpedBeforeTheFirstUseOfADatabase(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		time.Sleep(2 * time.Second)
		for _, f := range c.masters {
			f.set(func() { f.Offset = 500 * time.Millisecond })
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

// TestM5StepInARestartThatLosesNothing checks that a master that lost nothing in a
// restart is in quarantine all the same if its clock has stepped meanwhile (M4, M5).
func TestM5StepInARestartThatLosesNothing(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		f := c.masters[0]
		f.set(func() { f.AOF = true })
		c.takeBarely(acquire("k", "t", 10*time.Second))
		time.Sleep(2 * time.Second)
		f.kill()
		f.set(func() { f.Offset = time.Minute })
		f.startWithMemory()
		for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(50 * time.Millisecond) {
			if o := do(c.q, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder %v after the restart", time.Since(began))
			}
		}
	})
}

// TestM5QuorumStepsApart checks that masters that step at almost the same time, but by
// different amounts, are not taken for our own pause: they lose their votes for every
// instance (M5).
func TestM5QuorumStepsApart(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 20*time.Second)), Won)
		time.Sleep(2 * time.Second)
		for i, f := range c.masters[:2] {
			f.set(func() { f.Offset = time.Duration(i+1) * time.Minute })
		}
		time.Sleep(3 * time.Second)
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 20 * time.Second}), Undecided)
		other := c.redlockd()
		time.Sleep(2 * time.Second)
		c.want(do(other, acquire("k", "u", time.Second)), Undecided)
	})
}

// TestM5StepInAPause checks that a single master that steps during our own pause is
// noticed apart from it (M5), and that no other one seems to have stepped alone (why 105).
func TestM5StepInAPause(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 20*time.Second)), Won)
		time.Sleep(2500 * time.Millisecond) // no look is under way
		for _, f := range c.masters {
			f.set(func() { f.Offset = 300 * time.Millisecond })
		}
		// Its delay makes it the last to be looked at.
		c.masters[0].set(func() { c.masters[0].Offset, c.masters[0].Delay = time.Minute, 5*time.Millisecond })
		time.Sleep(4 * time.Second)
		o := c.want(do(c.q, acquire("other", "t", 10*time.Second)), Undecided)
		if !strings.Contains(o.Err.Error(), "stood still") {
			t.Errorf("error is %q", o.Err)
		}
		for i, want := range []MasterState{Quarantine, Voting, Voting, Voting, Voting} {
			if s := c.state(i); s.State != want {
				t.Errorf("status is %+v, want %s", s, want)
			}
		}
	})
}

// TestM5PauseBesideASteadyClock checks that a redlockd that paused writes no step into the
// marks of a majority, although one clock did not jump with the others, as that of a master on
// its own host, which paused with it: another instance goes on granting locks (M5).
func TestM5PauseBesideASteadyClock(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		s := &stoppable{}
		other := c.redlockdBy(s.clock())
		time.Sleep(5 * time.Second)
		c.want(do(c.q, acquire("k", "t", 20*time.Second)), Won)
		time.Sleep(2500 * time.Millisecond) // no look is under way
		c.pass(400*time.Millisecond, s)
		c.masters[4].set(func() { c.masters[4].Offset -= 400 * time.Millisecond })
		time.Sleep(2 * time.Second)
		if o := c.want(do(c.q, acquire("own", "t", time.Second)), Undecided); !strings.Contains(o.Err.Error(), "stood still") {
			t.Errorf("error is %q", o.Err)
		}
		c.want(do(other, acquire("other", "t", 10*time.Second)), Won)
	})
}

// TestM5StepIsToldWhileAnotherFreezes checks that a step is written in time also while
// another master freezes just when its mark is written (M5).
func TestM5StepIsToldWhileAnotherFreezes(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		f := c.masters[1]
		f.set(func() { f.Delay = 5 * time.Millisecond })
		looks := func() bool { // and TIME is under way
			log := f.commands(0)
			return strings.HasPrefix(log[len(log)-1], "GET") && strings.HasPrefix(log[len(log)-2], "INFO")
		}
		for !looks() {
			time.Sleep(time.Millisecond)
		}
		f.freeze()
		c.masters[0].set(func() { c.masters[0].Offset = time.Minute })
		time.Sleep(c.warmingUp())
		if m, err := mark.Parse(c.masters[0].holds(mark.Key)); err != nil || m.Real {
			t.Errorf("the mark is %+v, %v", m, err)
		}
	})
}

// warmingUp returns how long a redlockd waits for others to report a step.
func (c *testCluster) warmingUp() time.Duration {
	return clock.WarmUpTime(c.q.agreed.Greatest().Timeout)
}

// TestM5ExtendAfterAQuorumStepped checks that readings of the clocks from before a
// quorum of them stepped are not used for expiries any more: an extend lasts for its
// TTL on the present clocks (M5, V6).
func TestM5ExtendAfterAQuorumStepped(t *testing.T) {
	const ttl = 10 * time.Second
	for phase := range 10 {
		inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.Timeout = 20 * time.Millisecond }, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "t", ttl)), Won)
			time.Sleep(2*time.Second + time.Duration(phase)*100*time.Millisecond)
			for _, f := range c.masters {
				f.set(func() { f.Offset = 400 * time.Millisecond })
			}
			for range 60 {
				time.Sleep(50 * time.Millisecond)
				if o := do(c.q, extend("k", "t", ttl)); o.Verdict != Won {
					continue
				}
				keep := 0
				for _, f := range c.masters {
					if f.TTL("k") >= ttl {
						keep++
					}
				}
				if keep < 2 {
					t.Errorf("phase %d: %d masters keep it for the TTL of %v, want a majority", phase, keep, ttl)
				}
			}
		})
	}
}

package quorum

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
)

// TestM5NothingToWaitFor checks that a redlockd that starts waits for others only where a lock was
// ever kept, since a step can have ended no other (M5).
func TestM5NothingToWaitFor(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, waits := range []bool{false, true} {
			began := time.Now()
			q := c.redlockd()
			if err := q.WaitReady(context.Background()); err != nil || time.Since(began) >= clock.LookEvery != waits {
				t.Errorf("ready after %v, %v; has to wait %v", time.Since(began), err, waits)
			}
			c.want(do(q, acquire("k", "t", 10*time.Millisecond)), Won)
			time.Sleep(time.Second)
		}
	})
}

// TestM5StepBeforeTheFirstLook checks that a redlockd that starts right after a step,
// and so cannot have seen it, takes, extends and denies nothing by that master's vote
// until another instance that saw the step can have written it into the mark (M5). It
// does not wait if no other instance is connected.
func TestM5StepBeforeTheFirstLook(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.takeBarely(acquire("k", "t", 10*time.Second))
		time.Sleep(2 * time.Second)
		c.masters[0].set(func() { c.masters[0].Offset = time.Minute })
		other := c.redlockd()
		for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
			if o := do(other, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder %v after the start", time.Since(began))
			}
			if o := do(other, Op{Kind: Extend, Key: "k", Token: "t", TTL: 10 * time.Second}); o.Verdict == Absent || o.Verdict == Held {
				t.Fatalf("the holder is answered that it has no lock %v after the start", time.Since(began))
			}
			if o := do(other, Op{Kind: Read, Key: "k"}); o.Verdict == Absent {
				t.Fatalf("a read finds no lock %v after the start", time.Since(began))
			}
		}
		c.want(do(other, acquire("other", "u", time.Second)), Won)
	})
}

// TestM5StepThatNoMarkCanTell checks that a redlockd that starts while marks cannot be
// written gives the others the whole time from when they can be again: another one may
// have seen a step (M5). Here m1 and m2 step while they answer OOM, and m3 is down.
func TestM5StepThatNoMarkCanTell(t *testing.T) {
	for phase := range 5 {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "t", 20*time.Second)), Won)
			time.Sleep(2 * time.Second)
			c.masters[2].kill()
			for _, f := range c.masters[:2] {
				f.set(func() {
					f.Refused["SET"] = "OOM command not allowed when used memory > 'maxmemory'."
					f.Offset = time.Minute
				})
			}
			time.Sleep(2*time.Second + time.Duration(phase)*clock.LookEvery/5)
			other := c.redlockd()
			time.Sleep(3 * time.Second)
			for _, f := range c.masters[:2] {
				f.set(func() { delete(f.Refused, "SET") })
			}
			for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
				if o := do(other, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
					t.Fatalf("phase %d: a second holder %v after the marks could be written", phase, time.Since(began))
				}
			}
		})
	}
}

// TestM5StepThatNobodyTells checks the same where whoever saw the step ends, or is cut off,
// before it can write that (M5).
func TestM5StepThatNobodyTells(t *testing.T) {
	for phase := range 5 {
		inBubble(t, 3, func(c *testCluster) {
			cables := []*cable{c.throughCable(0), c.throughCable(1), c.throughCable(2)}
			sees := c.redlockd()
			time.Sleep(5 * time.Second)
			c.stop(c.q)
			c.want(do(sees, acquire("k", "t", 20*time.Second)), Won)
			taken := time.Now()
			for _, f := range c.masters[:2] {
				f.set(func() {
					f.Refused["SET"] = "OOM command not allowed when used memory > 'maxmemory'."
					f.Offset = time.Minute
				})
			}
			c.masters[2].kill()
			time.Sleep(time.Second + time.Duration(phase)*clock.LookEvery/5)
			c.cfg.Masters = slices.Clone(c.cfg.Masters)
			for i, f := range c.masters {
				c.cfg.Masters[i].Dial = f.dial
			}
			other := c.redlockd()
			time.Sleep(time.Second)
			for _, k := range cables {
				k.cut(true)
			}
			for _, f := range c.masters[:2] {
				f.set(func() { delete(f.Refused, "SET") })
			}
			for time.Since(taken) < 20*time.Second {
				if o := do(other, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
					t.Fatalf("a second holder after %v of 20s", time.Since(taken))
				}
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(2 * time.Minute)
			c.want(do(other, acquire("k", "u", 2*time.Second)), Won)
		})
	}
}

// TestM5StepBeforeOthersAreBack checks that a redlockd which is the first to reach a
// master again, from which others were cut off as well, waits until these can have
// reported a step (M5).
func TestM5StepBeforeOthersAreBack(t *testing.T) {
	for range 4 {
		inBubble(t, 5, func(c *testCluster) {
			c.takeBarely(acquire("k", "t", 10*time.Second))
			time.Sleep(2 * time.Second)
			f := c.masters[0]
			f.kill()
			other := c.redlockd()
			time.Sleep(3 * time.Second)
			f.set(func() { f.Offset = time.Minute })
			f.mend()
			for began := time.Now(); time.Since(began) < time.Second; time.Sleep(5 * time.Millisecond) {
				if o := do(other, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
					t.Fatalf("a second holder after %v", time.Since(began))
				}
			}
		})
	}
}

// TestM5StepAfterALongAbsence checks that a redlockd that was cut off from a master for
// long waits until others can have reported a step, since its own baseline allows for
// the drift of all that time (M5).
func TestM5StepAfterALongAbsence(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		cable := c.throughCable(0)
		other := c.redlockd()
		time.Sleep(5 * time.Second)
		cable.cut(true)
		time.Sleep(5 * time.Minute)
		c.takeBarely(acquire("k", "t", 2*time.Second))
		time.Sleep(1200 * time.Millisecond)
		for _, f := range c.masters[1:] {
			f.set(func() { f.Delay = 5 * time.Millisecond })
		}
		// The drift allows for 3 s in 5 min.
		c.masters[0].set(func() { c.masters[0].Offset = 2500 * time.Millisecond })
		cable.cut(false)
		for began := time.Now(); time.Since(began) < 750*time.Millisecond; time.Sleep(2 * time.Millisecond) {
			if o := do(other, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder %v after the connection", time.Since(began))
			}
		}
		time.Sleep(20 * time.Second)
		c.want(do(other, acquire("k", "u", time.Second)), Won)
	})
}

// TestM5StepBeforeTheFirstUseOfADatabase checks that a database that is used for the
// first time detects a step by what other databases know of the clocks (M5).
func TestM5StepBeforeTheFirstUseOfADatabase(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(5 * time.Second)
		open(c.q, 3)
		time.Sleep(50 * time.Millisecond) // all masters, though others write their marks too
		k := acquire("k", "t", 10*time.Second)
		k.DB = 3
		c.takeBarely(k)
		time.Sleep(1850 * time.Millisecond)
		c.masters[0].set(func() { c.masters[0].Offset = time.Minute })
		for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
			u := acquire("k", "u", 2*time.Second)
			u.DB = 3
			if o := do(other, u); o.Verdict == Won {
				t.Fatalf("a second holder %v after the first use", time.Since(began))
			}
		}
	})
}

// TestM5AskedBeforeTheClockSettled checks that a vote that was sent while the clock was
// still being watched counts accordingly, whenever its answer comes (M5).
func TestM5AskedBeforeTheClockSettled(t *testing.T) {
	once := func(cfg *cluster.Config) { cfg.RetryBudget = time.Millisecond } // it does not read again
	inBubbleWith(t, 5, once, func(c *testCluster) {
		c.takeBarely(acquire("k", "t", 10*time.Second))
		time.Sleep(2500 * time.Millisecond) // no look is under way
		c.masters[0].Del("k")               // as a step of its clock would
		for _, f := range c.masters {
			f.set(func() { f.Delay = 5 * time.Millisecond })
		}
		settle := func(settled bool) {
			l := c.q.cluster.Opened(0).List().Links[0]
			withLocked(l, func(l cluster.Locked) { l.Watch().Judged(settled, false) })
		}
		settle(false)
		out := start(c.q, Op{Kind: Read, Key: "k"})
		time.Sleep(time.Millisecond)
		settle(true)
		if o := <-out; o.Verdict == Absent {
			t.Errorf("the lock is gone by the word of a master whose clock was being watched")
		}
	})
}

// TestM5StepWhileItStoodStill checks that the votes of a redlockd that stood still for
// long, together with its connections, are void until others can have reported a step
// (M5).
func TestM5StepWhileItStoodStill(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		s := &stoppable{}
		slow := c.redlockdBy(s.clock())
		time.Sleep(3500 * time.Millisecond)
		c.pass(time.Minute, s)
		for _, f := range c.masters[1:3] { // another client's lock, taken in that minute
			f.Set("k", "t")
			f.SetTTL("k", 3*time.Second)
		}
		// It was on the first one as well. The drift allows for 600 ms.
		c.masters[0].set(func() { c.masters[0].Offset += 500 * time.Millisecond })
		for began := time.Now(); time.Since(began) < time.Second; time.Sleep(10 * time.Millisecond) {
			if o := do(slow, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder %v after the pause", time.Since(began))
			}
			if o := do(slow, Op{Kind: Read, Key: "k"}); o.Verdict == Absent {
				t.Fatalf("a read finds no lock %v after the pause", time.Since(began))
			}
		}
		// Its own first attempt may have made the marks bear a hold of 5 s already.
		time.Sleep(8 * time.Second)
		c.want(do(slow, acquire("k", "u", time.Second)), Won)
	})
}

// TestM5StepBeforeADatabaseReachesAMaster checks that a database that is used for the
// first time while a master is cut off knows that master's clock no better than the
// other databases do (M5).
func TestM5StepBeforeADatabaseReachesAMaster(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		s := &stoppable{} // shared by all, so that two minutes pass at once
		c.stop(c.q)
		c.q = c.redlockdBy(s.clock())
		cable := c.throughCable(0)
		var others []*Quorum
		for range 8 { // so that any of its databases may reach the master first
			others = append(others, c.redlockdBy(s.clock()))
		}
		time.Sleep(3 * time.Second)
		open(c.q, 3)
		cable.cut(true)
		c.pass(2*time.Minute, s)
		time.Sleep(3 * time.Second)
		for _, q := range others {
			open(q, 3)
		}
		k := acquire("k", "t", 2*time.Second)
		k.DB = 3
		c.takeBarely(k)
		time.Sleep(1200 * time.Millisecond)
		c.masters[0].set(func() { c.masters[0].Offset += 1100 * time.Millisecond })
		cable.cut(false)
		for began := time.Now(); time.Since(began) < 750*time.Millisecond; time.Sleep(10 * time.Millisecond) {
			for _, q := range others {
				u := acquire("k", "u", 2*time.Second)
				u.DB = 3
				if o := do(q, u); o.Verdict == Won {
					t.Fatalf("a second holder %v after the connection", time.Since(began))
				}
			}
		}
	})
}

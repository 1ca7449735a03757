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

// markOf returns a master's mark.
func (f *fakeMaster) markOf(t *testing.T) *mark.Mark {
	t.Helper()
	m, err := mark.Parse(f.holds(mark.Key))
	if err != nil {
		t.Fatalf("master %s: %v", f.Name, err)
	}
	return m
}

// changeMark changes the mark as another instance would, in one step.
func (f *fakeMaster) changeMark(change func(*mark.Mark)) {
	f.t.Helper()
	f.set(func() {
		e, _ := f.Get(0, mark.Key)
		m, err := mark.Parse(e.Value)
		if err != nil {
			f.t.Fatalf("master %s: %v", f.Name, err)
		}
		e.Value = m.With(change).String()
		f.Put(0, mark.Key, e)
	})
}

// votesAgain waits until a master may vote.
func (c *testCluster) votesAgain(i int) {
	c.t.Helper()
	for range 60_000 {
		if c.state(i).State == Voting {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatalf("after ten minutes master %s does not vote: %+v", c.masters[i].Name, c.state(i))
}

// TestM4WaitsForTheLastCopy checks that a master that has forgotten its locks does not
// vote before the last copy of a lock has ended elsewhere (M4). An expiry may be later
// than the hold in the marks, by a round trip.
func TestM4WaitsForTheLastCopy(t *testing.T) {
	for range 10 { // by how much it is later depends on chance
		inBubble(t, 3, testWaitsForTheLastCopy)
	}
}

func testWaitsForTheLastCopy(c *testCluster) {
	ttl := 10 * time.Second // with it the hold is just what the marks bear
	for c.cfg.Hold(ttl, c.cfg.Settings().Padding()) > 10*time.Second {
		ttl -= time.Millisecond
	}
	c.want(do(c.q, acquire("warm", "t", ttl)), Won)
	for n := len(c.masters[0].commands(0)); !slices.Contains(c.masters[0].commands(n), "INFO "); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(clock.LookEvery - 5*time.Millisecond) // the next look will soon notice the loss
	for range 3 {                                    // their rollbacks may still come
		c.want(do(c.q, acquire("k", "t", ttl)), Won)
		c.want(do(c.q, release("k", "t")), Won)
	}
	c.want(do(c.q, acquire("k", "t", ttl)), Won)
	synctest.Wait()
	ends := time.Now().Add(c.masters[1].TTL("k"))
	lost := time.Now()
	c.masters[0].FlushAll()
	time.Sleep(time.Second)
	c.votesAgain(0)
	if early := time.Until(ends); early > 0 {
		c.t.Errorf("it votes %v before the last copy of a lock has ended", early)
	}
	if early := time.Until(lost.Add(10*time.Second + c.cfg.LookSlack() + c.cfg.Timeout)); early > 0 {
		c.t.Errorf("it votes %v before a copy may have ended whose expiry counts from the latest look", early)
	}
}

// TestM4EvictionBeginsTheWaitAnew checks that the wait begins anew when the master
// could evict locks, however much of an earlier wait had passed (M4).
func TestM4EvictionBeginsTheWaitAnew(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won) // 20 s in the marks
		f := c.masters[0]
		f.kill()
		f.startEmpty()
		time.Sleep(15 * time.Second)
		f.set(func() { f.Evicts = true })
		time.Sleep(3 * time.Second)
		f.set(func() { f.Evicts = false })
		asked := time.Now()
		time.Sleep(2 * time.Second)
		c.votesAgain(0)
		if waited := time.Since(asked); waited < 19*time.Second {
			t.Errorf("it votes %v after it could evict locks", waited)
		}
	})
}

// TestM3NewMarkBearsTheGreatestHold checks that a new mark gets the greatest hold of a
// quorum of marks, even if these could not be read when it was first written (M3).
func TestM3NewMarkBearsTheGreatestHold(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.MaxTTL = 10 * time.Second }, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		time.Sleep(time.Second)
		c.stop(c.q)
		c.masters[0].kill()
		c.masters[0].startEmpty()
		for _, f := range c.masters[1:] {
			f.kill()
		}
		c.q = c.redlockd()
		time.Sleep(5 * time.Second)
		for _, f := range c.masters[1:] {
			f.mend()
		}
		time.Sleep(5 * time.Second)
		c.votesAgain(0)
		if m := c.masters[0].markOf(t); !m.Real || m.Greatest < c.cfg.Hold(10*time.Second, c.cfg.Settings().Padding()) {
			t.Errorf("the new mark is %v", m)
		}
	})
}

// durable makes a master report that it loses nothing in a restart.
func (f *fakeMaster) durable() { f.set(func() { f.AOF = true }) }

// restartsWith restarts a master with an earlier mark and without the lock that it has
// granted since, as if from an earlier disk.
func (f *fakeMaster) restartsWith(t *testing.T, text string) {
	t.Helper()
	f.kill()
	f.Del("k")
	f.Set(mark.Key, text)
	f.startWithMemory()
}

// noSecondHolder tries to take the lock for d, and fails if that succeeds.
func (c *testCluster) noSecondHolder(d time.Duration, op Op) {
	c.t.Helper()
	for began := time.Now(); time.Since(began) < d; time.Sleep(50 * time.Millisecond) {
		if o := do(c.q, op); o.Verdict == Won {
			c.t.Fatalf("a second holder after %v", time.Since(began))
		}
	}
}

// TestM4DiskOfBeforeExempt checks that a master that reports to be durable and comes
// back with a disk of a few seconds before is found out by its beat (M4).
func TestM4DiskOfBeforeExempt(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		f := c.masters[0]
		f.durable()
		before := f.holds(mark.Key)
		time.Sleep(5 * time.Second)
		c.takeBarely(acquire("k", "t", 10*time.Second))
		synctest.Wait()
		f.restartsWith(t, before)
		c.noSecondHolder(9*time.Second, acquire("k", "u", time.Second))
	})
}

// TestM4DiskWithAnotherMark checks that the beat of an earlier mark that was lost
// meanwhile, and replaced by a new one, counts for nothing, although both have reached
// the same beat (M4).
func TestM4DiskWithAnotherMark(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		f := c.masters[0]
		f.durable()
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		time.Sleep(25 * time.Second)
		before := f.markOf(t)
		f.FlushAll()
		time.Sleep(3 * time.Second)
		c.votesAgain(0)
		for m := f.markOf(t); m.Beat < before.Beat; m = f.markOf(t) {
			time.Sleep(10 * time.Millisecond)
		}
		c.takeBarely(acquire("k", "t", 10*time.Second))
		synctest.Wait()
		f.restartsWith(t, before.String())
		c.noSecondHolder(9*time.Second, acquire("k", "u", time.Second))
	})
}

// TestM4RestartWithoutSync checks that a master with a log that is not known to be
// synced always, since it may not be asked, is not exempt from the quarantine (M4).
func TestM4RestartWithoutSync(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		f := c.masters[0]
		f.durable()
		f.set(func() { f.Refused["CONFIG"] = "NOPERM this user has no permissions to run the 'config|get' command" })
		c.takeBarely(acquire("k", "t", 10*time.Second))
		synctest.Wait()
		f.restartsWith(t, f.holds(mark.Key)) // without the lock, which was not synced
		c.noSecondHolder(9*time.Second, acquire("k", "u", time.Second))
	})
}

// TestM4ReadOfEarlierDisks checks that when two of three masters are back with an
// earlier disk, the token of an earlier holder on them is not read as the holder (M4,
// P4).
func TestM4ReadOfEarlierDisks(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "before", time.Minute)), Won)
		synctest.Wait()
		back := c.masters[:2]
		var restore []func()
		for _, f := range back {
			restore = append(restore, f.disk())
		}
		c.want(do(c.q, release("k", "before")), Won)
		c.want(do(c.q, acquire("k", "now", time.Minute)), Won)
		synctest.Wait()
		for i, f := range back {
			f.kill()
			restore[i]()
			f.startWithMemory()
		}
		time.Sleep(3 * time.Second)
		for _, f := range back {
			if f.holds("k") != "before" {
				t.Fatalf("%s holds %q", f.Name, f.holds("k"))
			}
		}
		o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Undecided)
		if text := o.Err.Error(); !strings.Contains(text, "3 refused, 2 of them in quarantine") {
			t.Errorf("answered %q", text)
		}
	})
}

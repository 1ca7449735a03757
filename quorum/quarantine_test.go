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

// markOf is what a master's mark says.
func (f *fakeMaster) markOf(t *testing.T) *mark.Mark {
	t.Helper()
	m, err := mark.Parse(f.holds(mark.Key))
	if err != nil {
		t.Fatalf("master %s: %v", f.name, err)
	}
	return m
}

// votesAgain waits until a master may vote.
func (c *testCluster) votesAgain(i int) {
	c.t.Helper()
	for range 60_000 {
		if c.state(i).State == cluster.Voting {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatalf("after ten minutes master %s does not vote: %+v", c.masters[i].name, c.state(i))
}

// M4: a master that has forgotten its locks does not vote before the last copy
// of one has ended elsewhere: an expiry may lie beyond the hold that the marks
// bear, by what makes it random and unique, and by the round trip.
func TestM4WaitsForTheLastCopy(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		ttl := 10 * time.Second // with which the hold is as long as the marks bear
		for c.cfg.Hold(ttl, c.cfg.Padding()) > 10*time.Second {
			ttl -= time.Millisecond
		}
		c.want(do(c.q, acquire("warm", "t", ttl)), Won)
		for n := len(c.masters[0].commands(0)); !slices.Contains(c.masters[0].commands(n), "INFO "); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(clock.LookEvery - 5*time.Millisecond) // the next look notices the loss, soon
		for range cluster.MaxNames - 1 {                 // of which any may still be undone
			c.want(do(c.q, acquire("k", "t", ttl)), Won)
			c.want(do(c.q, release("k", "t")), Won)
		}
		c.want(do(c.q, acquire("k", "t", ttl)), Won)
		synctest.Wait()
		ends := time.Now().Add(c.masters[1].TTL("k"))
		c.masters[0].FlushAll()
		time.Sleep(time.Second)
		c.votesAgain(0)
		if early := time.Until(ends); early > 0 {
			t.Errorf("it votes %v before the last copy of a lock has ended", early)
		}
	})
}

// M4: the wait begins anew when a master could evict locks, however much of
// another one had passed.
func TestM4EvictionBeginsTheWaitAnew(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won) // 20 s in the marks
		f := c.masters[0]
		f.kill()
		f.startEmpty()
		time.Sleep(15 * time.Second)
		f.set(func() { f.policy = "allkeys-lru" })
		time.Sleep(3 * time.Second)
		f.set(func() { f.policy = "noeviction" })
		asked := time.Now()
		time.Sleep(2 * time.Second)
		c.votesAgain(0)
		if waited := time.Since(asked); waited < 19*time.Second {
			t.Errorf("it votes %v after it could evict locks", waited)
		}
	})
}

// M3: a new mark bears the greatest hold that those of a quorum do, also where
// they could not be read when it was written first.
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
		if m := c.masters[0].markOf(t); !m.Real || m.Greatest < c.cfg.Hold(10*time.Second, c.cfg.Padding()) {
			t.Errorf("the new mark is %v", m)
		}
	})
}

// durable makes a master say that it loses nothing in a restart.
func (f *fakeMaster) durable() { f.set(func() { f.aof = true }) }

// restartsWith ends a master and starts it with an earlier mark, and without
// the lock that it has given since: a disk of before.
func (f *fakeMaster) restartsWith(t *testing.T, text string) {
	t.Helper()
	f.kill()
	f.Del("k")
	if err := f.Set(mark.Key, text); err != nil {
		t.Fatal(err)
	}
	f.startWithMemory()
}

// noSecondHolder tries to take the lock for some time.
func (c *testCluster) noSecondHolder(d time.Duration, op Op) {
	c.t.Helper()
	for began := time.Now(); time.Since(began) < d; time.Sleep(50 * time.Millisecond) {
		if o := do(c.q, op); o.Verdict == Won {
			c.t.Fatalf("a second holder after %v", time.Since(began))
		}
	}
}

// M4: a master that says it is durable and comes back with the disk of a few
// seconds before has lost a lock: its beat shows that.
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

// M4: nor does the beat of a mark tell anything that was lost and written anew
// since, though both have beaten as often.
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

// M4: nor does one that keeps a log, but does not say that it syncs it always,
// or does not let itself be asked.
func TestM4RestartWithoutSync(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		f := c.masters[0]
		f.durable()
		f.set(func() { f.refused["CONFIG"] = "NOPERM this user has no permissions to run the 'config|get' command" })
		c.takeBarely(acquire("k", "t", 10*time.Second))
		synctest.Wait()
		f.restartsWith(t, f.holds(mark.Key)) // without what it had not synced
		c.noSecondHolder(9*time.Second, acquire("k", "u", time.Second))
	})
}

// M4, P4: two of three that are back with an earlier disk have the token of an
// earlier holder. It is not told to the one who has the lock now.
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
				t.Fatalf("%s holds %q", f.name, f.holds("k"))
			}
		}
		o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Undecided)
		if text := o.Err.Error(); !strings.Contains(text, "3 refused, 2 of them in quarantine") {
			t.Errorf("told %q", text)
		}
	})
}

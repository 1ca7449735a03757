package quorum

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
)

// TestM3ShorterMaxTTLBesideALongerOne checks that a redlockd with a shorter max_ttl
// does not end a quarantine too early, since the marks bear the greatest settings in
// use (M3).
func TestM3ShorterMaxTTLBesideALongerOne(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		brief := c.cfg
		brief.MaxTTL = 5 * time.Second
		c.cfg, brief = brief, c.cfg
		short := c.redlockd()
		c.cfg = brief
		time.Sleep(3 * time.Second)
		c.masters[2].kill() // so its mark will not bear what was granted
		time.Sleep(time.Second)
		c.want(do(c.q, acquire("k", "t", 5*time.Minute)), Won)
		c.stop(c.q)
		c.q = short
		for _, f := range c.masters[:2] {
			f.kill()
			f.startEmpty()
		}
		c.masters[2].mend()
		for range 50 {
			time.Sleep(5 * time.Second)
			if o := do(short, acquire("k", "u", time.Second)); o.Verdict == Won {
				t.Fatal("a second holder")
			}
		}
	})
}

// TestM3ShorterMaxTTLAndAllEmpty checks that a redlockd with a shorter max_ttl does not
// end a quarantine too early if no mark is left at all, as long as the other instance
// lives, or has lived long enough to write its settings into the new marks (M3).
func TestM3ShorterMaxTTLAndAllEmpty(t *testing.T) {
	for _, lives := range []bool{true, false} {
		inBubble(t, 3, func(c *testCluster) { c.allEmpty(t, lives) })
	}
}

func (c *testCluster) allEmpty(t *testing.T, lives bool) {
	short := c.cfg
	short.MaxTTL = 5 * time.Second
	c.want(do(c.q, acquire("k", "t", 5*time.Minute)), Won)
	time.Sleep(time.Second)
	for _, f := range c.masters {
		f.kill()
		f.startEmpty()
	}
	time.Sleep(5 * time.Second)
	c.cfg = short
	second := c.redlockd()
	if !lives {
		c.stop(c.q)
		c.q = second
	}
	for range 50 {
		time.Sleep(5 * time.Second)
		if o := do(second, acquire("k", "u", time.Second)); o.Verdict == Won {
			t.Fatalf("a second holder, the first redlockd lives: %v", lives)
		}
	}
}

// TestM5ShortTimeoutBesideALongOne checks that a redlockd with a short timeout waits
// long enough for one with a long timeout to write that a clock stepped (M5).
func TestM5ShortTimeoutBesideALongOne(t *testing.T) {
	inBubbleWith(t, 5, func(cfg *cluster.Config) { cfg.Timeout = 400 * time.Millisecond }, func(c *testCluster) {
		for _, f := range c.masters {
			f.away(150 * time.Millisecond)
		}
		time.Sleep(5 * time.Second)
		do(c.q, acquire("before", "t", 30*time.Second)) // the marks bear such a hold
		time.Sleep(time.Second)
		c.takeBarely(acquire("k", "t", 30*time.Second))
		time.Sleep(3 * time.Second)
		c.masters[0].set(func() { c.masters[0].Offset = time.Minute })
		long := c.cfg
		c.cfg.Timeout = 20 * time.Millisecond
		near := append([]cluster.Master(nil), c.cfg.Masters...)
		for i, f := range c.masters {
			near[i].Dial = f.newWire().Dial
		}
		c.cfg.Masters = near
		short := c.redlockd()
		c.cfg = long
		for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
			if o := do(short, acquire("k", "u", time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder %v after the start", time.Since(began))
			}
		}
	})
}

// TestM5TimeoutThatOnlyTheMarkKnows checks that a redlockd that starts waits at a master
// for as long as the greatest timeout in that very mark demands (M5). R2, with a long
// timeout, never reached c, and has not seen yet that a's clock stepped. R1 reaches c, then
// a: B would get A's lock there.
func TestM5TimeoutThatOnlyTheMarkKnows(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.stop(c.q)
		brief, long := c.cfg, c.cfg
		long.Timeout = 2500 * time.Millisecond
		c.cfg = long
		two, ways := c.redlockdOver(c.cfg.Masters)
		ways["c"].leads(noRoute)
		time.Sleep(20 * time.Second)
		c.want(do(two, acquire("k", "A", 30*time.Second)), Won) // on a and b
		a := c.masters[0]
		a.away(time.Second)
		time.Sleep(10 * time.Second)
		for n := len(a.commands(0)); !slices.Contains(a.commands(n), "TIME "); {
			time.Sleep(time.Millisecond)
		}
		a.set(func() { a.Offset = time.Minute }) // right after a look of R2
		c.cfg = brief
		one, ways := c.redlockdOver(c.cfg.Masters)
		ways["a"].leads(noRoute)
		ways["b"].leads(noRoute)
		time.Sleep(100 * time.Millisecond)
		ways["a"].leads(a.newWire().Dial)
		for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
			if o := do(one, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder after %v", time.Since(began))
			}
		}
	})
}

// TestV10DifferentTimeouts checks that no holder reads that it has no lock when
// redlockd have different timeouts, and thus paddings: neither from one with a longer
// timeout that has just started, nor from one with a shorter (V10, P4).
func TestV10DifferentTimeouts(t *testing.T) {
	for _, timeouts := range [][2]time.Duration{{50, 300}, {300, 50}} {
		inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.Timeout = timeouts[0] * time.Millisecond }, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
			took := time.Now()
			c.cfg.Timeout = timeouts[1] * time.Millisecond
			other := c.redlockd()
			time.Sleep(5 * time.Second)
			c.want(do(other, acquire("later", "t", 3*time.Second)), Won)
			tookLater := time.Now()
			for time.Since(took) < 9700*time.Millisecond {
				for _, q := range []*Quorum{c.q, other} {
					for key, since := range map[string]time.Time{"k": took, "later": tookLater} {
						left := map[string]time.Duration{"k": 10 * time.Second, "later": 3 * time.Second}[key] - time.Since(since)
						o := do(q, Op{Kind: Read, Key: key})
						if left > 250*time.Millisecond && o.Verdict != Held {
							t.Fatalf("timeouts %v: %s is %v, and lasts %v longer", timeouts, key, o.Verdict, left)
						}
					}
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
}

// TestM3ShorterMaxTTLRemembersALongerOne checks that when all masters have forgotten, a
// redlockd with a shorter max_ttl waits by the longer one that it has seen in the
// marks, though it has not seen the hold that was granted last (M3).
func TestM3ShorterMaxTTLRemembersALongerOne(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		long := c.q
		c.cfg.MaxTTL = 5 * time.Second
		short := c.redlockd()
		time.Sleep(10 * time.Second)
		justLooked(short)
		c.want(do(long, acquire("k", "t", time.Hour)), Won)
		c.stop(long)
		c.q = short
		for _, f := range c.masters {
			f.kill()
			f.startEmpty()
		}
		if greatest := short.agreed.EverGranted(); greatest > cluster.FloorHold {
			t.Fatalf("it has seen a hold of %v", greatest)
		}
		for range 15 {
			time.Sleep(time.Minute)
			if o := do(c.q, acquire("k", "u", time.Second)); o.Verdict == Won {
				t.Fatal("a second holder")
			}
		}
	})
}

// justLooked waits until a redlockd has just looked at all its masters.
func justLooked(q *Quorum) {
	for _, l := range q.cluster.Opened(0).List().Links {
		for looked := false; !looked; {
			time.Sleep(time.Millisecond)
			_, sent := l.LookedAt()
			looked = q.now()-sent < clock.LookEvery/4
		}
	}
}

// TestM3LongerMaxTTLThatOneMarkLacks checks that locks are not longer than the max_ttl that
// the cluster began with until all marks record such a hold (M3). R2, with a longer one,
// cannot reach c: if A had its lock on a and b, and those came back empty, c could tell
// nothing of it, and B would get the lock from R1 after some seconds.
func TestM3LongerMaxTTLThatOneMarkLacks(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.MaxTTL = 5 * time.Second }, func(c *testCluster) {
		c.stop(c.q)
		brief := c.cfg
		c.cfg.MaxTTL = 5 * time.Minute
		two, ways := c.redlockdOver(c.cfg.Masters)
		ways["c"].leads(noRoute)
		time.Sleep(5 * time.Second)
		c.want(do(two, acquire("short", "A", 5*time.Second)), Won)
		o := c.want(do(two, acquire("k", "A", 5*time.Minute)), Undecided)
		if want := "every master's mark must bear it first, and c is down"; !strings.Contains(o.Err.Error(), want) {
			t.Errorf("answered %q, want %q in it", o.Err, want)
		}
		ways["c"].leads(c.masters[2].dial)
		time.Sleep(5 * time.Second)
		c.want(do(two, acquire("k", "A", 5*time.Minute)), Won)
		c.stop(two)
		c.loses(0, 1)
		c.cfg = brief
		c.q = c.redlockd()
		c.servesAfter(c.q, 5*time.Minute-5*time.Second, 6*time.Minute+10*time.Second)
	})
}

// TestM3LongLockAfterASilence checks that right after redlockd was silent, while the doubt that it
// wrote then still keeps masters from granting, a longer lock is refused with that reason, and not
// because they vote (M3, M5).
func TestM3LongLockAfterASilence(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, f := range c.masters {
			f.set(func() { f.Offset = 500 * time.Millisecond })
		}
		silence := c.q.cluster.Database(0).Silence
		for silence() == 0 {
			time.Sleep(time.Millisecond)
		}
		for silence() > 0 {
			time.Sleep(time.Millisecond)
		}
		o := c.want(do(c.q, acquire("k", "t", 30*time.Minute)), Undecided)
		if want := "bear it first, and a is being looked at, b is being looked at, c is being looked at"; !strings.HasSuffix(o.Err.Error(), want) {
			t.Errorf("answered %q, want %q", o.Err, want)
		}
		time.Sleep(3 * time.Second)
		c.want(do(c.q, acquire("k", "t", 30*time.Minute)), Won)
	})
}

// TestM3NewMarksKeepTheFloor checks the same where R2, before it lost sight of c, has
// written new marks for a and b, one after the other.
func TestM3NewMarksKeepTheFloor(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.MaxTTL = 5 * time.Second }, func(c *testCluster) {
		c.stop(c.q)
		c.cfg.MaxTTL = 5 * time.Minute
		two, ways := c.redlockdOver(c.cfg.Masters)
		c.q = two
		for i := range 2 {
			time.Sleep(5 * time.Second)
			c.loses(i)
			time.Sleep(time.Second)
			c.votesAgain(i)
		}
		ways["c"].leads(noRoute)
		time.Sleep(5 * time.Second)
		c.want(do(two, acquire("short", "A", 5*time.Second)), Won)
		c.want(do(two, acquire("k", "A", 5*time.Minute)), Undecided)
	})
}

package quorum

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// loses makes masters restart empty at once.
func (c *testCluster) loses(masters ...int) {
	for _, i := range masters {
		c.masters[i].kill()
		c.masters[i].startEmpty()
	}
}

// barely takes a lock on the first three of five masters only.
func (c *testCluster) barely(op Op) {
	c.t.Helper()
	c.masters[3].kill()
	c.masters[4].kill()
	time.Sleep(time.Second)
	c.want(do(c.q, op), Won)
	synctest.Wait()
	c.masters[3].mend()
	c.masters[4].mend()
	time.Sleep(time.Second)
}

// servesAfter checks that a majority votes again between two times from now.
func (c *testCluster) servesAfter(q *Quorum, least, most time.Duration) {
	c.t.Helper()
	for began := time.Now(); ; time.Sleep(time.Second) {
		passed := time.Since(began)
		o := do(q, acquire("k", "second", time.Second))
		switch {
		case o.Verdict == Won && passed < least:
			c.t.Fatalf("a second holder after %v", passed)
		case o.Verdict == Won:
			return
		case passed > most:
			c.t.Fatalf("after %v: %v, %+v", passed, o.Err, q.Status().Masters)
		}
	}
}

// low makes the floor 20 s and max_ttl 10 min, so that a lock of a minute is a long
// one.
func low(cfg *cluster.Config) { cfg.LowFloor, cfg.MaxTTL = 20*time.Second, 10*time.Minute }

// TestM3MajorityForgets checks that if a majority has forgotten its locks and some
// master remembers, the wait is the floor, or the hold of the locks really granted, and
// not that of max_ttl (M3, M4).
func TestM3MajorityForgets(t *testing.T) {
	for name, k := range map[string]struct {
		cfg       func(*cluster.Config)
		ttl, most time.Duration
	}{
		"short locks": {func(*cluster.Config) {}, 30 * time.Second, cluster.FloorHold + 10*time.Second},
		"the floor's": {func(*cluster.Config) {}, 5 * time.Minute, cluster.FloorHold + 10*time.Second},
		"a minute's":  {low, time.Minute, 110 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubbleWith(t, 5, k.cfg, func(c *testCluster) {
				if k.ttl == time.Minute {
					c.want(do(c.q, acquire("first", "t", k.ttl)), Won)
				}
				c.barely(acquire("k", "t", k.ttl))
				c.loses(0, 1, 2)
				c.servesAfter(c.q, k.ttl-5*time.Second, k.most)
			})
		})
	}
}

// TestM3OneRemembers checks that one master that remembers is enough to make others
// wait, also for a redlockd that has just started, with a lower max_ttl, and in another
// database (M3).
func TestM3OneRemembers(t *testing.T) {
	for _, db := range []int{0, 3} {
		inBubbleWith(t, 5, low, func(c *testCluster) {
			first, barely := acquire("first", "t", time.Minute), acquire("k", "t", time.Minute)
			first.DB, barely.DB = db, db
			c.want(do(c.q, first), Won)
			c.barely(barely)
			c.stop(c.q)
			c.cfg.MaxTTL = 5 * time.Second
			c.loses(0, 1, 2, 3)
			q := c.redlockd()
			for began := time.Now(); time.Since(began) < 57*time.Second; time.Sleep(time.Second) {
				op := acquire("k", "u", time.Second)
				op.DB = db
				if o := do(q, op); o.Verdict == Won {
					t.Fatalf("database %d: a second holder after %v", db, time.Since(began))
				}
			}
			time.Sleep(time.Minute)
			c.want(do(q, acquire("k", "u", time.Second)), Won)
		})
	}
}

// TestM3FirstLongLock checks that the first lock of a greater hold is refused, with the
// reason, while a master is down or frozen (M3). It is granted as soon as all marks can
// bear it, and from then on by every instance whichever master is down.
func TestM3FirstLongLock(t *testing.T) {
	for name, away := range map[string]struct{ begin, end func(*fakeMaster) }{
		"down":   {(*fakeMaster).kill, (*fakeMaster).mend},
		"frozen": {(*fakeMaster).freeze, (*fakeMaster).thaw},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 5, func(c *testCluster) {
				away.begin(c.masters[2])
				time.Sleep(time.Second)
				c.want(do(c.q, acquire("short", "t", 5*time.Minute)), Won)
				o := c.want(do(c.q, acquire("k", "t", time.Hour)), Undecided)
				if m := c.masters[0].markOf(t); m.Greatest > cluster.FloorHold {
					t.Errorf("a mark bears %v, which was never granted", m.Greatest)
				}
				want := "NOQUORUM no lock of 1h0m0s was granted before: every master's mark must bear it first, and c is " + name
				if o.Err.Error() != want {
					t.Errorf("answered %q, want %q", o.Err, want)
				}
				c.want(do(c.q, Op{Kind: Extend, Key: "short", Token: "t", TTL: time.Hour}), Undecided)
				away.end(c.masters[2])
				time.Sleep(2 * time.Second)
				c.want(do(c.q, acquire("k", "t", time.Hour)), Won)
				time.Sleep(2 * time.Second)
				c.masters[1].kill()
				time.Sleep(time.Second)
				c.want(do(c.q, acquire("l", "t", time.Hour)), Won)
				other := c.redlockd()
				time.Sleep(5 * time.Second)
				c.want(do(other, acquire("m", "t", time.Hour)), Won)
				three := acquire("m", "t", time.Hour)
				three.DB = 3
				do(other, acquire("opens", "t", time.Hour))
				time.Sleep(time.Second)
				o = do(other, three)
				time.Sleep(time.Second)
				if three.Key = "n"; o.Verdict != Won {
					c.want(do(other, three), Won)
				}
			})
		})
	}
}

// TestM3OldDiskIsNoSurvivor checks that a master whose disk is of before the longest
// lock does not count as one that remembers if no other master does (M3, M4).
func TestM3OldDiskIsNoSurvivor(t *testing.T) {
	inBubbleWith(t, 5, low, func(c *testCluster) {
		e := c.masters[4]
		e.durable()
		before := e.holds(mark.Key)
		time.Sleep(5 * time.Second)
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		synctest.Wait()
		c.stop(c.q)
		e.restartsWith(t, before)
		c.loses(0, 1, 2, 3)
		c.q = c.redlockd()
		c.servesAfter(c.q, 10*time.Minute, 12*time.Minute)
	})
}

// TestM3OldDiskLearns checks that such a master counts again once a quorum of others
// has raised its mark to what was granted (M3).
func TestM3OldDiskLearns(t *testing.T) {
	inBubbleWith(t, 5, low, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		time.Sleep(3 * time.Second)
		f := c.masters[4]
		f.changeMark(func(m *mark.Mark) { m.GrantLimit, m.Greatest = 0, time.Second })
		time.Sleep(5 * time.Second)
		if m := f.markOf(t); m.GrantLimit < 100*time.Second || m.Greatest < 100*time.Second {
			t.Errorf("its mark bears %v and may tell of %v", m.Greatest, m.GrantLimit)
		}
	})
}

// TestM6AllForget checks that if all masters have forgotten, they wait for max_ttl, the
// error states what can be done, and -bootstrap does it (M6).
func TestM6AllForget(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		c.loses(0, 1, 2, 3, 4)
		time.Sleep(20 * time.Second)
		o := c.want(do(c.q, acquire("k", "u", time.Second)), Undecided)
		if text := o.Err.Error(); !strings.Contains(text, "waiting 24h") || !strings.Contains(text, "run redlockd -bootstrap if no lock can be held") {
			t.Errorf("answered %q", text)
		}
		if why := c.state(0).Reason; !strings.Contains(why, mark.WhyNobodyKnows) {
			t.Errorf("it waits, because %q", why)
		}
		c.noSecondHolder(20*time.Second, acquire("k", "u", time.Second))
		if err := cluster.Bootstrap(c.t.Context(), c.cfg, hclog.NewNullLogger()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		c.want(do(c.q, acquire("k", "u", time.Second)), Won)
	})
}

// TestM6AllForgetAndWait checks that without -bootstrap they vote when max_ttl is over
// (M6).
func TestM6AllForgetAndWait(t *testing.T) {
	inBubbleWith(t, 5, low, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Minute)), Won)
		c.loses(0, 1, 2, 3, 4)
		c.servesAfter(c.q, 10*time.Minute-time.Second, 18*time.Minute)
	})
}

// TestM3LongLocksWhileTheListChanges checks that no lock of a greater hold is granted
// while the list changes, and the mark of a master that has joined bears the holds
// granted before (M3, M8).
func TestM3LongLocksWhileTheListChanges(t *testing.T) {
	inBubbleWith(t, 5, func(cfg *cluster.Config) { low(cfg); cfg.Handover = 10 * time.Second }, func(c *testCluster) {
		old := c.redlockd()
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		c.want(do(c.q, release("k", "t")), Won)
		f := c.join("f")
		c.change(c.q, c.listed("e", f))
		time.Sleep(3 * time.Second)
		o := c.want(do(c.q, acquire("k", "t", 5*time.Minute)), Undecided)
		if !strings.Contains(o.Err.Error(), "granted before") {
			t.Errorf("answered %q", o.Err)
		}
		o = c.want(do(old, acquire("k", "t", 5*time.Minute)), Undecided)
		if !strings.Contains(o.Err.Error(), "the list of masters is being changed") {
			t.Errorf("answered %q", o.Err)
		}
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		time.Sleep(2 * time.Minute)
		c.reaches(c.q, 2, "final")
		time.Sleep(3 * time.Second)
		if m := f.markOf(t); m.Greatest < 100*time.Second || m.GrantLimit < 100*time.Second {
			t.Errorf("the mark of the new master bears %v and may tell of %v", m.Greatest, m.GrantLimit)
		}
		c.want(do(c.q, acquire("l", "t", 5*time.Minute)), Won)
	})
}

// TestM3BackOnTheList checks that a master that comes back to the list with its earlier
// mark takes over what was granted without it before it counts as one that remembers
// (M3, M8).
func TestM3BackOnTheList(t *testing.T) {
	inBubbleWith(t, 5, func(cfg *cluster.Config) { low(cfg); cfg.Handover = 10 * time.Second }, func(c *testCluster) {
		all := c.cfg.Masters
		c.change(c.q, c.listed("e"))
		c.reaches(c.q, 2, "final")
		time.Sleep(3 * time.Second)
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		c.change(c.q, all)
		time.Sleep(time.Minute)
		c.reaches(c.q, 3, "final")
		time.Sleep(4 * time.Second)
		if m := c.masters[4].markOf(t); m.GrantLimit > 0 && m.Greatest < 100*time.Second {
			t.Errorf("it bears %v, and may tell alone", m.Greatest)
		}
	})
}

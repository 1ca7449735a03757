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

// barely takes a lock on the first three of five only.
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

// servesAfter wants a majority to vote again between two times after now.
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

// low makes the floor 20 s and max_ttl 10 min: what is long in the tests is a minute.
func low(cfg *cluster.Config) { cfg.LowFloor, cfg.MaxTTL = 20*time.Second, 10*time.Minute }

// M3, M4: where a majority has forgotten its locks and some master remembers, the
// wait is the floor's, or that of the locks really granted, and not that of max_ttl.
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

// M3: one master that remembers is enough, also for a redlockd that has just been
// started, with a lower max_ttl, and in another database.
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

// M3: the first lock of a longer class is refused while a master is down or stands
// still, and says so; as soon as all can be told it is granted, and from then on
// whoever is down, by whatever redlockd.
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
					t.Errorf("a mark bears %v, which nobody was granted", m.Greatest)
				}
				want := "NOQUORUM no lock of 1h0m0s was granted before: every master's mark must bear it first, and c is " + name
				if o.Err.Error() != want {
					t.Errorf("told %q, want %q", o.Err, want)
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

// M3, M4: a disk of before the longest lock tells too little: where nobody else
// remembers, a master that came back with one does not count as one that does.
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

// M3: it counts again once a quorum of others has told it what was granted.
func TestM3OldDiskLearns(t *testing.T) {
	inBubbleWith(t, 5, low, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		time.Sleep(3 * time.Second)
		f := c.masters[4]
		f.set(func() {
			m, _ := mark.Parse(f.holds(mark.Key))
			_ = f.Set(mark.Key, m.With(func(m *mark.Mark) { m.Told, m.Greatest = 0, time.Second }).String())
		})
		time.Sleep(3 * time.Second)
		if m := f.markOf(t); m.Told < 100*time.Second || m.Greatest < 100*time.Second {
			t.Errorf("its mark bears %v and was told %v", m.Greatest, m.Told)
		}
	})
}

// M6: where all have forgotten, they wait for max_ttl, say what can be done, and
// bootstrap does it.
func TestM6AllForget(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		c.loses(0, 1, 2, 3, 4)
		time.Sleep(20 * time.Second)
		o := c.want(do(c.q, acquire("k", "u", time.Second)), Undecided)
		if text := o.Err.Error(); !strings.Contains(text, "waiting 24h") || !strings.Contains(text, "run redlockd -bootstrap if no lock can be held") {
			t.Errorf("told %q", text)
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

// M6: and without bootstrap they do vote when max_ttl is over.
func TestM6AllForgetAndWait(t *testing.T) {
	inBubbleWith(t, 5, low, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Minute)), Won)
		c.loses(0, 1, 2, 3, 4)
		c.servesAfter(c.q, 10*time.Minute-time.Second, 18*time.Minute)
	})
}

// M3, M8: nothing longer is granted while the list changes, and who has joined
// bears what was granted before.
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
			t.Errorf("told %q", o.Err)
		}
		o = c.want(do(old, acquire("k", "t", 5*time.Minute)), Undecided)
		if !strings.Contains(o.Err.Error(), "the list of masters is being changed") {
			t.Errorf("told %q", o.Err)
		}
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won)
		time.Sleep(2 * time.Minute)
		c.reaches(c.q, 2, "final")
		time.Sleep(3 * time.Second)
		if m := f.markOf(t); m.Greatest < 100*time.Second || m.Told < 100*time.Second {
			t.Errorf("who joined bears %v and was told %v", m.Greatest, m.Told)
		}
		c.want(do(c.q, acquire("l", "t", 5*time.Minute)), Won)
	})
}

// M3, M8: a master that comes back to the list with the mark it had has not been told
// what was granted without it, so it takes that over before it tells anything.
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
		if m := c.masters[4].markOf(t); m.Told > 0 && m.Greatest < 100*time.Second {
			t.Errorf("it bears %v, and may tell alone", m.Greatest)
		}
	})
}

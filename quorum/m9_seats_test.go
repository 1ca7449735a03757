package quorum

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// moved returns the cluster's masters, with one of them at another server.
func (c *testCluster) moved(name string, to *fakeMaster) []cluster.Master {
	list := append([]cluster.Master(nil), c.cfg.Masters...)
	for i := range list {
		if list[i].Name == name {
			list[i].Address, list[i].Dial = to.RunID+":1", to.dial
		}
	}
	return list
}

// server adds a server with a run_id of its own, which is not on the list yet.
func (c *testCluster) server(runID string) *fakeMaster {
	f := newFakeMaster(c.t, "new")
	f.RunID = runID
	c.masters = append(c.masters, f)
	return f
}

// TestM9MoveOfOneMaster checks that a server does not vote, nor begin its quarantine,
// under the name of a master while one of two instances still uses the old server (M9).
// Otherwise both would vote under one name.
func TestM9MoveOfOneMaster(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		second := c.redlockd()
		c.want(do(c.q, acquire("before", "t", 5*time.Second)), Won)
		time.Sleep(3 * time.Second)
		to := c.server("run-new")
		if err := second.ChangeMasters(c.moved("a", to)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if s := second.Status().Masters[0]; s.State == Voting {
			t.Fatalf("the new server votes beside the old one: %+v", s)
		}
		c.masters[2].freeze()
		time.Sleep(time.Second)
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won) // on the old a, and b
		c.masters[2].thaw()
		c.masters[1].set(func() { c.masters[1].Delay = 20 * time.Millisecond })
		time.Sleep(time.Second)
		if o := do(second, acquire("k", "u", 10*time.Second)); o.Verdict == Won {
			t.Fatal("a second holder")
		}
		c.masters[1].set(func() { c.masters[1].Delay = 0 })
		// After its reload it uses the new server too, whose quarantine now passes.
		if err := c.q.ChangeMasters(c.moved("a", to)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		for i, q := range []*Quorum{c.q, second} {
			if s := q.Status().Masters[0]; s.State != Voting || s.RunID != "run-new" {
				t.Errorf("redlockd %d: %+v", i, s)
			}
		}
	})
}

// TestM9MoveOfTheMajority checks that no lock has two holders when a redlockd is
// restarted with the addresses of a majority changed, and another one keeps the old
// ones (M9).
func TestM9MoveOfTheMajority(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("before", "t", 5*time.Second)), Won)
		time.Sleep(3 * time.Second)
		for i, name := range []string{"a", "b", "c"} {
			c.cfg.Masters = c.moved(name, c.server("run-new"+string(rune('1'+i))))
		}
		second := c.redlockd()
		for range 20 {
			time.Sleep(10 * time.Second)
			c.want(do(c.q, acquire("k", "t", 2*time.Second)), Won)
			if o := do(second, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
				t.Fatal("a second holder")
			}
		}
		c.stop(c.q)
		time.Sleep(7 * time.Minute) // two marks know what was granted: the floor
		c.want(do(second, acquire("k", "u", 2*time.Second)), Won)
	})
}

// TestM9NameLeadsElsewhere checks that no lock has two holders when a name leads to
// another server while one instance keeps its connection to the old one (M9).
func TestM9NameLeadsElsewhere(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("before", "t", 5*time.Second)), Won)
		time.Sleep(3 * time.Second)
		to := c.server("run-new")
		var leads atomic.Pointer[fakeMaster]
		leads.Store(c.masters[0])
		c.cfg.Masters[0].Dial = func() (net.Conn, error) { return leads.Load().dial() }
		c.stop(c.q)
		c.q = c.redlockd()
		time.Sleep(3 * time.Second)
		leads.Store(to)
		second := c.redlockd()
		time.Sleep(2 * time.Minute)
		c.masters[2].freeze()
		time.Sleep(time.Second)
		o := do(c.q, acquire("k", "t", 10*time.Second))
		c.masters[2].thaw()
		c.masters[1].kill()
		time.Sleep(time.Second)
		if p := do(second, acquire("k", "u", 10*time.Second)); o.Verdict == Won && p.Verdict == Won {
			t.Fatal("a second holder")
		}
		c.masters[1].mend()
		// Both notice it, and the new server votes when all locks are over.
		time.Sleep(2 * time.Minute)
		for i, q := range []*Quorum{c.q, second} {
			if s := q.Status().Masters[0]; s.State != Voting || s.RunID != "run-new" {
				t.Errorf("redlockd %d: %+v", i, s)
			}
		}
	})
}

// TestM9StepThatCannotBeWritten checks that a redlockd that starts while the mark of a
// master that stepped cannot be written does not trust that master, since the marks of
// the others show it (M9).
func TestM9StepThatCannotBeWritten(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.takeBarely(acquire("k", "t", time.Minute))
		time.Sleep(2 * time.Second)
		f := c.masters[0]
		f.set(func() {
			f.Refused["SET"] = "OOM command not allowed when used memory > 'maxmemory'."
			f.Offset = 10 * time.Minute
		})
		time.Sleep(2 * time.Second)
		other := c.redlockd()
		f.set(func() { f.Refused = map[string]string{} })
		c.stop(c.q)
		for range 20 {
			time.Sleep(time.Second)
			if o := do(other, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
				t.Fatal("a second holder")
			}
		}
		time.Sleep(5 * time.Minute)
		if s := other.Status().Masters[0]; s.State != Voting {
			t.Errorf("status is %+v after its quarantine", s)
		}
	})
}

// TestM9EmptyWhileAnotherIsDown checks that of three masters, one that is empty does
// not vote while another is down, which might still count the old server's votes; of
// five it does (M9).
func TestM9EmptyWhileAnotherIsDown(t *testing.T) {
	for n, want := range map[int]MasterState{3: Quarantine, 5: Voting} {
		inBubble(t, n, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "t", 5*time.Second)), Won)
			time.Sleep(2 * time.Second)
			c.masters[2].kill()
			time.Sleep(time.Second)
			c.masters[0].kill()
			c.masters[0].startEmpty()
			time.Sleep(time.Minute)
			if s := c.state(0); s.State != want {
				t.Errorf("%d masters: %+v, want %s", n, s, want)
			}
			c.masters[2].mend()
			time.Sleep(time.Minute)
			if s := c.state(0); s.State != Voting {
				t.Errorf("%d masters, all back: %+v", n, s)
			}
		})
	}
}

// TestM9NewCluster checks that a new cluster without -bootstrap votes after its
// quarantine, with any instance, and that -bootstrap ends the quarantine (M6).
func TestM9NewCluster(t *testing.T) {
	inBubbleWith(t, 5, func(cfg *cluster.Config) { cfg.MaxTTL = 5 * time.Minute }, func(c *testCluster) {
		c.stop(c.q)
		for _, f := range c.masters {
			f.FlushAll()
		}
		first, second := c.redlockd(), c.redlockd()
		time.Sleep(6*time.Minute + 10*time.Second) // the longest floor (M3)
		for _, q := range []*Quorum{first, second} {
			c.want(do(q, acquire("k", "t", 10*time.Millisecond)), Won)
			time.Sleep(time.Second)
		}
		for _, f := range c.masters {
			f.FlushAll()
		}
		time.Sleep(5 * time.Second)
		if err := cluster.Bootstrap(c.t.Context(), c.cfg, hclog.NewNullLogger()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		for _, q := range []*Quorum{first, second} {
			c.want(do(q, acquire("k", "t", 10*time.Millisecond)), Won)
			time.Sleep(time.Second)
		}
	})
}

// TestM9SeatBorneByTooFew checks that a server takes the seat only when enough marks
// bear it that every majority meets one (M9). Otherwise A gets the lock on a c d of
// five through one instance, B on the new a, b and e through another, each of them cut
// off from the others.
func TestM9SeatBorneByTooFew(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("before", "t", 5*time.Second)), Won)
		time.Sleep(2 * time.Second)
		list := c.cfg.Masters
		c.cfg.Masters = without(list, "be")
		first := c.redlockd()
		c.cfg.Masters = list
		c.cfg.Masters = without(c.moved("a", c.server("run-new")), "cd")
		second := c.redlockd()
		c.stop(c.q)
		time.Sleep(time.Minute)
		c.want(do(first, acquire("k", "t", 10*time.Second)), Won)
		if o := do(second, acquire("k", "u", 10*time.Second)); o.Verdict == Won {
			t.Fatal("a second holder")
		}
		c.q = first
	})
}

// TestM9FlushedMasterKeepsItsSeat checks that a master that was flushed, but still is
// the same server, keeps its seat at once (M9).
func TestM9FlushedMasterKeepsItsSeat(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 100*time.Millisecond)), Won)
		time.Sleep(2 * time.Second)
		c.masters[0].FlushAll()
		// The look that finds the loss, at most one more for what the others record if these were
		// looked at in the same moment but later, and the one that ends the wait.
		time.Sleep(3500 * time.Millisecond)
		if s := c.state(0); s.State != Voting {
			t.Fatalf("3.5 s after it was flushed, its locks over in less than 1: %+v", s)
		}
	})
}

// TestM9SaysWhetherAnotherServerIsInUse checks that the log warns of two servers under
// one name, but not of a server that restarted quickly, nor of one that waits for a
// third master (M9).
func TestM9SaysWhetherAnotherServerIsInUse(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		var lines logged
		c.stop(c.q)
		c.q = c.redlockdTelling(lines.logger())
		c.ready()
		told := func(when string, want int) {
			t.Helper()
			if n := lines.countOf("[WARN]", "master may not vote", mark.WhyOtherServer); n != want {
				t.Errorf("%s: %d lines report another server, want %d\n%s", when, n, want, lines.text.String())
			}
		}
		c.masters[0].kill()
		c.masters[0].startEmpty()
		time.Sleep(time.Minute)
		told("restarted empty", 0)
		c.masters[2].kill()
		time.Sleep(time.Second)
		c.masters[0].kill()
		c.masters[0].startEmpty()
		time.Sleep(time.Minute)
		told("restarted empty while another one is down", 0)
		if s := c.state(0); !strings.HasSuffix(s.Reason, mark.WhyMayBeOther) {
			t.Errorf("%+v, want the reason %q", s, mark.WhyMayBeOther)
		}
		c.masters[2].mend()
		time.Sleep(time.Minute)
		c.redlockd()
		time.Sleep(3 * time.Second)
		if err := c.q.ChangeMasters(c.moved("a", c.server("run-new"))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		told("moved, and one redlockd was not told", 1)
	})
}

// TestM9WhoStillUsesAServerIsHeard checks that a redlockd that still uses a server is
// noticed, whatever the phase of its looks, also if another one, which does not use
// that server any more, is always the first to raise the beats of the other masters
// (M9).
func TestM9WhoStillUsesAServerIsHeard(t *testing.T) {
	for late := range 10 {
		inBubble(t, 3, func(c *testCluster) {
			time.Sleep(time.Duration(late) * 100 * time.Millisecond)
			second := c.redlockd()
			time.Sleep(5 * time.Second)
			if err := c.q.ChangeMasters(c.moved("a", c.server("run-new"))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(30 * time.Second)
			old, to := second.Status().Masters[0], c.state(0)
			if old.State != Voting || to.State != Quarantine {
				t.Errorf("%d: the old server is %s (%s) for who uses it, the new one %s (%s)", late,
					old.State, old.Reason, to.State, to.Reason)
			}
		})
	}
}

// TestM9AnotherDatabaseFollowsDatabaseZero checks that a database that is opened where
// the name leads to another server, while database 0 still uses the old one, is not
// used there (M9): its clock would be compared with that of the other server and step
// without end (M5). Database 0 follows the name, and then the other one does.
func TestM9AnotherDatabaseFollowsDatabaseZero(t *testing.T) {
	var leads atomic.Pointer[fakeMaster]
	inBubbleWith(t, 3, func(cfg *cluster.Config) {
		first := cfg.Masters[0].Dial
		cfg.Masters[0].Dial = func() (net.Conn, error) {
			if to := leads.Load(); to != nil {
				return to.dial()
			}
			return first()
		}
	}, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 5*time.Second)), Won)
		to := c.server("run-new")
		to.set(func() { to.Offset = time.Minute })
		leads.Store(to)
		op := acquire("k", "t", 5*time.Second)
		op.DB = 3
		do(c.q, op)
		time.Sleep(2 * time.Second)
		if s := c.q.cluster.Database(3).Status()[0]; s.State != Down || s.Reason != "its address leads to a different server than for database 0" {
			t.Errorf("database 3: %+v, want that it is not used at another server", s)
		}
		op.Key = "another"
		c.want(do(c.q, op), Won) // by the other two
		time.Sleep(2 * time.Minute)
		for _, db := range []int{0, 3} {
			if s := c.q.cluster.Database(db).Status()[0]; s.State != Voting || s.RunID != "run-new" {
				t.Errorf("database %d: %+v, want that it votes at the new server", db, s)
			}
		}
	})
}

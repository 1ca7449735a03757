package quorum

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

func (c *testCluster) state(i int) cluster.MasterStatus { return c.q.Status().Masters[i] }

// TestM1SilentAtOnce checks that a master that is down or frozen delays no operation
// (M1).
func TestM1SilentAtOnce(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		c.masters[0].freeze()
		c.masters[1].kill()
		time.Sleep(3 * time.Second)
		began := time.Now()
		for range 10 {
			c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
			c.want(do(c.q, release("k", "t")), Won)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("ten cycles took %v with one frozen and one dead", took)
		}
		c.masters[2].freeze()
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Undecided)
		began = time.Now()
		for range 10 {
			c.want(do(c.q, acquire("k", "t", 10*time.Second)), Undecided)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("ten refusals took %v with the majority away", took)
		}
		c.masters[2].thaw()
		time.Sleep(time.Second)
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
	})
}

// TestM2Batches checks that operations that gather while a batch is under way go out in
// one write (M2).
func TestM2Batches(t *testing.T) {
	inBubble(t, 1, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		c.slow(time.Millisecond, 0)
		var outs []<-chan *Outcome
		for i := range 100 {
			outs = append(outs, start(c.q, acquire(strings.Repeat("k", i+1), "t", 10*time.Second)))
		}
		before := len(c.masters[0].commands(0))
		for _, out := range outs[:20] {
			<-out
		}
		times := 0
		for _, line := range c.masters[0].commands(before) {
			if strings.HasPrefix(line, "TIME") {
				times++
			}
		}
		if times > 3 {
			t.Errorf("100 operations at once went out in %d batches", times)
		}
	})
}

// TestM3LostMemoryIsSeenBeforeTheVote checks that a lock on a bare majority is not
// granted again when one of its masters is flushed, replaced or restarted between any
// two operations (M3, why 72).
func TestM3LostMemoryIsSeenBeforeTheVote(t *testing.T) {
	for name, fault := range map[string]func(f *fakeMaster){
		"flushed":         func(f *fakeMaster) { f.FlushAll() },
		"another server":  func(f *fakeMaster) { f.FlushAll(); f.set(func() { f.RunID = "other" }) },
		"restarted empty": func(f *fakeMaster) { f.kill(); f.startEmpty() },
		"another master's keys": func(f *fakeMaster) {
			f.FlushAll()
			m := &mark.Mark{Real: true, ID: "x", Name: "z", RunID: "run-z", Generation: mark.FirstGeneration("other")}
			f.Set(mark.Key, m.String())
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 5, func(c *testCluster) {
				second := c.redlockd()
				time.Sleep(2 * time.Second)
				c.masters[3].kill()
				c.masters[4].kill()
				taken := time.Now()
				c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
				synctest.Wait()
				c.masters[3].mend()
				c.masters[4].mend()
				for i := range 2 {
					for c.state(3+i).State != Voting {
						time.Sleep(10 * time.Millisecond)
					}
				}
				fault(c.masters[0])
				for time.Since(taken) < 9*time.Second {
					for _, q := range []*Quorum{c.q, second} {
						if o := do(q, acquire("k", "u", time.Second)); o.Verdict == Won {
							t.Fatal("a second holder")
						}
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		})
	}
}

// TestM3Fence checks that the fence comes first after the greeting, and no command of
// the earlier connection is carried out after it (M3, why 73).
func TestM3Fence(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 60*time.Second)), Won)
		f := c.masters[0]
		f.freeze()
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		time.Sleep(8 * time.Second) // the monitor gives the connection up
		before := len(f.commands(0))
		f.thaw()
		time.Sleep(3 * time.Second)
		ended := 0
		f.set(func() {
			for id := range f.Ended {
				if id < 1000 { // not the id that no connection has
					ended++
				}
			}
		})
		text := strings.Join(f.commands(before), "\n")
		if ended == 0 {
			t.Fatalf("no earlier connection was ended:\n%s", text)
		}
		// Commands before the fence are the backlog of the old connection and the
		// greeting of the new one.
		if behind := f.strangers(before); len(behind) > 0 {
			t.Errorf("behind the fence came %q from another connection:\n%s", behind, text)
		}
		for _, line := range f.commands(before) {
			if strings.Contains(line, "CLIENT KILL") {
				break
			}
			if strings.Contains(line, mark.Key) && strings.HasPrefix(line, "SET") {
				t.Errorf("the mark is written before the fence: %s", line)
			}
		}
		if o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held); o.State.Token != "t" {
			t.Errorf("%+v", o.State)
		}
	})
}

// strangers returns the commands after the first fence that came by another connection
// than the one that sent it. The HELLO of an earlier connection does not count: one
// that was given up in its greeting has no known id to be ended by, and nothing else
// was ever sent on it.
func (f *fakeMaster) strangers(skip int) (lines []string) {
	f.Lock()
	defer f.Unlock()
	fence := 0
	for i := skip; i < len(f.Log); i++ {
		line, from := f.Log[i], f.From[i]
		switch {
		case fence == 0 && strings.HasPrefix(line, "CLIENT KILL"):
			fence = from
		case fence == 0 || from == fence || from == 0:
		case from > fence || !strings.HasPrefix(line, "HELLO "):
			lines = append(lines, line)
		}
	}
	return lines
}

// TestM3GreatestHold checks that the marks bear a hold before it is granted (M3).
func TestM3GreatestHold(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, ttl := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
			c.want(do(c.q, acquire(ttl.String(), "t", ttl)), Won)
			bearing := 0
			for _, f := range c.masters {
				m, err := mark.Parse(f.holds(mark.Key))
				if err == nil && m.Greatest >= c.cfg.Hold(ttl, c.cfg.Settings().Padding()) {
					bearing++
				}
			}
			if bearing < 2 {
				t.Errorf("a hold for %v was granted with %d marks that bear it", ttl, bearing)
			}
		}
	})
}

// TestM4Quarantine checks that M4, why 81, 82: a master that restarted empty does not
// vote before the greatest hold is over, and does afterwards.
func TestM4Quarantine(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		c.masters[0].kill()
		c.masters[0].startEmpty()
		time.Sleep(2 * time.Second)
		if s := c.state(0); s.State != Quarantine || s.Wait < 10*time.Second {
			t.Fatalf("status is %+v", s)
		}
		c.want(do(c.q, acquire("other", "t", 10*time.Second)), Won)
		synctest.Wait()
		if c.masters[0].holds("other") != "" {
			t.Error("an acquire was sent to a master in quarantine")
		}
		c.masters[1].freeze()
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Undecided)
		c.masters[1].thaw()
		time.Sleep(25 * time.Second)
		if s := c.state(0); s.State != Voting {
			t.Fatalf("status is %+v", s)
		}
		c.want(do(c.q, acquire("later", "t", 10*time.Second)), Won)
		synctest.Wait()
		if n := c.copies("later", "t"); n != 3 {
			t.Errorf("%d copies, want 3", n)
		}
	})
}

// TestM4QuarantineIsShared checks that a restart of redlockd pauses a quarantine, and
// does not end it (M4).
func TestM4QuarantineIsShared(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 15*time.Second)), Won)
		c.masters[0].kill()
		c.masters[0].startEmpty()
		time.Sleep(10 * time.Second) // half of that until it has its seat (M9)
		c.stop(c.q)
		time.Sleep(60 * time.Second)
		c.q = c.redlockd()
		time.Sleep(3 * time.Second)
		if s := c.state(0); s.State != Quarantine {
			t.Fatalf("status is %+v after 8s of 20s were watched", s)
		}
		time.Sleep(18 * time.Second)
		if s := c.state(0); s.State != Voting {
			t.Fatalf("status is %+v after all was watched", s)
		}
	})
}

// TestM4Restarts checks that the beat of the mark decides whether a restart kept the
// data, not what the master says of its persistence (M4, why 83).
func TestM4Restarts(t *testing.T) {
	for _, r := range []struct {
		name  string
		aof   bool
		start func(f *fakeMaster)
		want  MasterState
	}{
		{"with all its memory, and it says so", true, (*fakeMaster).startWithMemory, Voting},
		{"with all its memory, but it does not say so", false, (*fakeMaster).startWithMemory, Quarantine},
		{"without a volume, though it says it is durable", true, (*fakeMaster).startEmpty, Quarantine},
	} {
		t.Run(r.name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
				f := c.masters[0]
				f.set(func() { f.AOF = r.aof })
				f.kill()
				r.start(f)
				time.Sleep(5 * time.Second)
				if s := c.state(0); s.State != r.want {
					t.Errorf("status is %+v, want %s", s, r.want)
				}
			})
		})
	}
}

// TestM4Unfit checks that a replica, and a master that may evict locks, do not vote,
// and still wait when the cause has ended (M4).
func TestM4Unfit(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		c.masters[0].set(func() { c.masters[0].Replica = true })
		c.masters[1].set(func() { c.masters[1].Evicts = true })
		time.Sleep(2 * time.Second)
		for i, word := range []string{"replica", "allkeys-lru"} {
			if s := c.state(i); s.State != Quarantine || !strings.Contains(s.Reason, word) {
				t.Errorf("status is %+v", s)
			}
		}
		o := c.want(do(c.q, acquire("other", "t", 10*time.Second)), Undecided)
		if !strings.HasPrefix(o.Err.Error(), "NOQUORUM 1 of 3 masters may vote: a quarantine waiting ") {
			t.Errorf("error is %q", o.Err)
		}
		c.masters[0].set(func() { c.masters[0].Replica = false })
		c.masters[1].set(func() { c.masters[1].Evicts = false })
		time.Sleep(3 * time.Second)
		for i := range 2 {
			if s := c.state(i); s.State != Quarantine {
				t.Errorf("status is %+v right after", s)
			}
		}
	})
}

// TestM6Bootstrap checks that the error of a new cluster states what to do, and
// -bootstrap refuses one that is not new or not fully reachable (M6).
func TestM6Bootstrap(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		err := cluster.Bootstrap(c.t.Context(), c.cfg, hclog.NewNullLogger())
		if err == nil || !strings.Contains(err.Error(), "already has the mark") {
			t.Errorf("bootstrap of a living cluster: %v", err)
		}
		for _, f := range c.masters {
			f.kill()
			f.startEmpty()
		}
		c.stop(c.q)
		c.q = c.redlockd()
		time.Sleep(5 * time.Second)
		o := c.want(do(c.q, acquire("k", "t", 10*time.Second)), Undecided)
		want := "NOQUORUM 0 of 3 masters may vote: a new waiting "
		if text := o.Err.Error(); !strings.HasPrefix(text, want) || !strings.HasSuffix(text, "(run redlockd -bootstrap if no lock can be held)") {
			t.Errorf("error is %q", text)
		}
		if s := c.q.Status(); s.Ready || s.Hint != bootstrapHint {
			t.Errorf("the status of a new cluster is %v, with the hint %q", s.Ready, s.Hint)
		}
		c.masters[2].kill()
		if err = cluster.Bootstrap(c.t.Context(), c.cfg, hclog.NewNullLogger()); err == nil {
			t.Error("bootstrap with a master unreachable")
		}
		c.masters[2].startWithMemory()
		if err = cluster.Bootstrap(c.t.Context(), c.cfg, hclog.NewNullLogger()); err != nil {
			t.Fatalf("bootstrap: %v", err)
		}
		time.Sleep(2 * time.Second)
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		if s := c.q.Status(); !s.Ready || s.Hint != "" {
			t.Errorf("after the bootstrap the status is %v, with the hint %q", s.Ready, s.Hint)
		}
	})
}

// TestM6NewClusterByWaiting checks that a new cluster serves without -bootstrap once no
// lock of earlier can be held any more (M6).
func TestM6NewClusterByWaiting(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.stop(c.q)
		for _, f := range c.masters {
			f.kill()
			f.startEmpty()
		}
		c.cfg.MaxTTL = 5 * time.Second
		c.q = c.redlockd()
		ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
		defer cancel()
		began := time.Now()
		if err := c.q.WaitReady(ctx); err != nil {
			t.Fatalf("%v: %+v", err, c.q.Status().Masters)
		}
		if waited := time.Since(began); waited < c.cfg.Hold(c.cfg.MaxTTL, c.cfg.Settings().Padding()) {
			t.Errorf("waited %v only", waited)
		}
	})
}

// TestC5Databases checks that databases keep locks apart; one that is used for the
// first time needs no quarantine, and one that was flushed costs the master its vote in all
// (C5, M3).
func TestC5Databases(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		open(c.q, 3)
		three := acquire("k", "t", 10*time.Second)
		three.DB = 3
		c.want(do(c.q, three), Won)
		c.want(do(c.q, acquire("k", "u", 10*time.Second)), Won)
		synctest.Wait()
		for _, f := range c.masters {
			f.Select(3)
			f.FlushDB()
			f.Select(0)
		}
		time.Sleep(2 * time.Second)
		three.Token = "v"
		c.want(do(c.q, three), Undecided)
		c.want(do(c.q, acquire("other", "u", 10*time.Second)), Undecided)
	})
}

// TestV9ExtendHeals checks that an extend gives a lock back to masters that have lost
// it, so that an extended lock survives the empty restart of all masters, one after the
// other, with the greatest hold between two (V9).
func TestV9ExtendHeals(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 6*time.Second)), Won)
		extend := Op{Kind: Extend, Key: "k", Token: "t", TTL: 6 * time.Second}
		for _, f := range c.masters {
			f.kill()
			f.startEmpty()
			for i := range 12 {
				time.Sleep(2 * time.Second)
				// Its answer must have arrived at the verdict, so it must be among the
				// fastest now and then.
				c.slow(2*time.Millisecond, i%5, (i+1)%5, (i+2)%5)
				c.want(do(c.q, extend), Won)
				c.slow(0, 0, 1, 2, 3, 4)
			}
			time.Sleep(100 * time.Millisecond)
			if n := c.copies("k", "t"); n != 5 {
				t.Fatalf("%d copies after the restart of %s", n, f.Name)
			}
		}
		c.want(do(c.q, release("k", "t")), Won)
		synctest.Wait()
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
	})
}

// TestV9LostLockStaysLost checks that a lock that a majority has lost is not brought
// back (V9, why 50).
func TestV9LostLockStaysLost(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		c.masters[0].Del("k")
		c.masters[1].Del("k")
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second}), Absent)
		synctest.Wait()
		if n := c.copies("k", "t"); n != 1 {
			t.Errorf("%d copies of a lock that a majority had lost", n)
		}
	})
}

// TestV10StaleCopyIsNoEnd checks that a lock that lives on a quorum is not read as
// absent because of copies that an extend did not reach and that are over (V10).
func TestV10StaleCopyIsNoEnd(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", time.Second)), Won)
		synctest.Wait()
		c.masters[0].freeze()
		c.masters[1].freeze()
		time.Sleep(100 * time.Millisecond)
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 20 * time.Second}), Won)
		time.Sleep(300 * time.Millisecond)
		c.masters[0].thaw()
		c.masters[1].thaw()
		time.Sleep(700 * time.Millisecond)
		for range 50 {
			for i := range c.masters {
				c.slow(time.Duration(i%3)*time.Millisecond, i)
			}
			if o := do(c.q, Op{Kind: Read, Key: "k"}); o.Verdict == Absent {
				t.Fatal("absent, and its holder has it for 19s more")
			}
			c.slow(0, 0, 1, 2, 3, 4)
		}
	})
}

// TestM4OldMemoryIsNoEvidence checks that another token on a master with data of an
// earlier time is no evidence that a lock is gone (M4).
func TestM4OldMemoryIsNoEvidence(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.masters[3].kill()
		c.masters[4].kill()
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		c.masters[3].mend()
		c.masters[4].mend()
		f := c.masters[0]
		f.kill()
		f.Set("k", "old")
		f.startWithMemory()
		time.Sleep(3 * time.Second)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Undecided)
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second}), Undecided)
		c.want(do(c.q, release("k", "t")), Won)
	})
}

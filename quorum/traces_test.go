package quorum

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/scripts"
)

// TestTraceExpiryIsUnique checks that no instance uses one expiry twice for one key,
// token and master (V6).
func TestTraceExpiryIsUnique(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		freed := 0
		for round := range 40 {
			key := fmt.Sprint("k", round)
			o := c.want(do(c.q, acquire(key, "t", 10*time.Second)), Won)
			c.want(do(c.q, release(key, "t")), Won)
			c.want(do(c.q, acquire(key, "t", 10*time.Second)), Won)
			synctest.Wait()
			o.Undo() // the first session has gone
			synctest.Wait()
			if n := c.copies(key, "t"); n != 3 {
				freed++
			}
			time.Sleep(20 * time.Millisecond)
		}
		if freed > 0 {
			t.Errorf("a rollback freed the living lock of another attempt in %d of 40 rounds", freed)
		}
	})
}

// TestTraceDatabaseListingIsLost checks that a lock is not granted again after a master
// came back empty, in a database with a longer lock than those in database 0 (M3, M4).
func TestTraceDatabaseListingIsLost(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		open := func(db int) {
			done := make(chan struct{})
			c.q.Open(db, func() { close(done) })
			<-done
			time.Sleep(3 * time.Second)
		}
		open(5)
		op := acquire("k", "A", 60*time.Second)
		op.DB = 5
		c.masters[2].freeze()
		time.Sleep(1500 * time.Millisecond) // from now on it is silent at once
		o := do(c.q, op)
		c.want(o, Won)
		c.masters[2].thaw()
		time.Sleep(time.Second)
		for i, f := range c.masters {
			f.Select(5)
			t.Logf("db5 %d: %q mark %q", i, f.holds("k"), f.holds(mark.Key))
			f.Select(0)
			t.Logf("db0 %d: mark %q", i, f.holds(mark.Key))
		}
		c.stop(c.q) // redlockd is restarted, and so is one master
		c.masters[0].kill()
		c.masters[0].startEmpty()
		c.q = c.redlockd()
		time.Sleep(6 * time.Second)
		open(5)
		op.Token = "B"
		if o := do(c.q, op); o.Verdict == Won {
			t.Errorf("B won while A holds: one master lost its memory 10s ago; state %+v", c.q.cluster.Opened(5).Status())
		} else {
			t.Logf("%v %v", o.Verdict, o.Err)
		}
	})
}

// TestTraceFlushAllThenFlushDB checks that a FLUSHDB does not count as the first use of
// a database after database 0's mark, which had listed it, was lost.
func TestTraceFlushAllThenFlushDB(t *testing.T) {
	bad := 0
	for range 6 {
		inBubble(t, 3, func(c *testCluster) {
			done := make(chan struct{})
			c.q.Open(3, func() { close(done) })
			<-done
			time.Sleep(3 * time.Second)
			op := acquire("k", "t", time.Second)
			op.DB = 3
			c.want(do(c.q, op), Won)
			f := c.masters[0]
			// The mark of database 0 is lost: an operator's FLUSHDB there, or it was
			// unfit.
			f.Select(0)
			f.FlushDB()
			time.Sleep(20 * time.Second)
			op = acquire("long", "A", 60*time.Second)
			op.DB = 3
			c.want(do(c.q, op), Won)
			time.Sleep(2 * time.Second)
			f.Select(3)
			f.FlushDB()
			f.Select(0)
			time.Sleep(3 * time.Second)
			if s := c.q.cluster.Opened(3).Status()[0]; s.State == Voting {
				bad++
			}
		})
	}
	if bad > 0 {
		t.Errorf("a flushed database with 60s locks voted again after 3s in %d of 6", bad)
	}
}

// TestTraceNoScriptBehindNewer checks that a command answered with NOSCRIPT is never
// sent again after a newer command (V14).
func TestTraceNoScriptBehindNewer(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("x", "t", 60*time.Second)), Won)
		c.want(do(c.q, release("x", "t")), Won) // now the release script is loaded
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		c.masters[0].FlushScripts()
		c.slow(4*time.Millisecond, 0)
		c.want(do(c.q, release("k", "t")), Won) // by masters 1 and 2
		synctest.Wait()
		c.masters[2].freeze()
		o := do(c.q, Op{Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: 60 * time.Second})
		c.want(o, Won)
		time.Sleep(200 * time.Millisecond)
		c.slow(0, 0)
		c.masters[2].thaw()
		time.Sleep(2 * time.Second)
		if n := c.copies("k", "t"); n < 2 {
			t.Errorf("the lock was won and is on %d masters", n)
		}
		if o := do(c.q, acquire("k", "u", 60*time.Second)); o.Verdict == Won {
			t.Error("a second holder")
		}
	})
}

// TestTraceReleaseAnsweredByAnError checks that a release that a master answered with
// an error is repeated there (P5, V8).
func TestTraceReleaseAnsweredByAnError(t *testing.T) {
	for _, text := range []string{
		"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
		"MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist on disk.",
	} {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
			synctest.Wait()
			c.masters[0].refuse(text)
			c.want(do(c.q, release("k", "t")), Won)
			synctest.Wait()
			c.masters[0].refuse("")
			time.Sleep(10 * time.Second)
			if n := c.copies("k", "t"); n != 0 {
				t.Errorf("%.4s: %d copies are left 10s after the release", text, n)
			}
		})
	}
}

// TestTraceRepeatedReleaseIsForgotten checks that a release is no longer repeated once
// the key has been taken, but still if that was only tried (V8).
func TestTraceRepeatedReleaseIsForgotten(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		c.masters[0].freeze()
		c.masters[1].freeze()
		time.Sleep(1500 * time.Millisecond)
		c.want(do(c.q, release("k", "t")), Undecided)
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Undecided)
		c.masters[0].thaw()
		c.masters[1].thaw()
		time.Sleep(5 * time.Second)
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies are left of a lock without a holder", n)
		}
	})
}

// TestTraceDialStorm checks that a master that is down is dialled with a back-off,
// although every acquire wakes its monitor (M1).
func TestTraceDialStorm(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.stop(c.q)
		c.masters[2].kill()
		dials := 0
		f := c.masters[2]
		dial := c.cfg.Masters[2].Dial
		c.cfg.Masters[2].Dial = func() (net.Conn, error) {
			f.set(func() { dials++ })
			return dial()
		}
		c.q = c.redlockd()
		time.Sleep(3 * time.Second)
		f.set(func() { dials = 0 })
		for i := range 1000 {
			do(c.q, acquire(fmt.Sprint(i), "t", time.Second))
			time.Sleep(time.Millisecond)
		}
		var n int
		f.set(func() { n = dials })
		if n > 20 {
			t.Errorf("%d dials in a second to a master that is down", n)
		}
	})
}

// TestTraceLookStorm checks that a master in quarantine is not asked for INFO at every
// acquire, either.
func TestTraceLookStorm(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.stop(c.q)
		c.masters[2].kill()
		c.masters[2].startEmpty()
		c.q = c.redlockd()
		time.Sleep(500 * time.Millisecond)
		do(c.q, acquire("first", "t", 20*time.Second))
		f := c.masters[2]
		before := len(f.commands(0))
		for i := range 1000 {
			do(c.q, acquire(fmt.Sprint(i), "t", 20*time.Second))
			time.Sleep(time.Millisecond)
		}
		n := 0
		for _, line := range f.commands(before) {
			if strings.HasPrefix(line, "INFO") {
				n++
			}
		}
		t.Logf("%+v", c.state(2))
		if n > 20 {
			t.Errorf("%d INFO in a second", n)
		}
	})
}

// TestTraceTTLNeverMore checks that PTTL is never more than was asked for (V3).
func TestTraceTTLNeverMore(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		c.slow(15*time.Millisecond, 0, 1, 2)
		time.Sleep(4 * time.Second) // looks take 45 ms now
		c.slow(0, 0, 1, 2)
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		if o.State.TTL > 10*time.Second {
			t.Errorf("%v are left of 10s", o.State.TTL)
		}
	})
}

// TestTraceQueueGrows checks that calls that were answered NOQUORUM long ago do not
// pile up in the queue of their key.
func TestTraceQueueGrows(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		c.slow(5*time.Millisecond, 0, 1, 2)
		for range 200 { // clients, each tries again when answered
			go func() {
				for range 20 {
					do(c.q, release("k", "t"))
				}
			}()
		}
		time.Sleep(6 * time.Second)
		d := c.q.keyspace(0)
		s := d.keys.shard("k")
		s.mu.Lock()
		n := 0
		if k := s.queues["k"]; k != nil {
			n = len(k.waiting)
		}
		s.mu.Unlock()
		if n > 200 {
			t.Errorf("200 clients, all answered, and %d calls wait", n)
		}
		c.slow(0, 0, 1, 2)
		time.Sleep(time.Second)
	})
}

// TestTraceTooLateExtendSaysGivenBack checks that an extend that came too late, and is
// not rolled back, is not answered as rolled back.
func TestTraceTooLateExtendSaysGivenBack(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		o := c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 20 * time.Second}), Won)
		time.Sleep(c.cfg.Stay() + time.Millisecond)
		_, err := o.Confirm(o.Clock())
		synctest.Wait()
		if n := c.copies("k", "t"); n == 3 && strings.Contains(err.Error(), "rolled back") {
			t.Errorf("%d copies, answered %q", n, err)
		}
	})
}

// TestTracePromotedDurableReplica checks that a replica that was promoted at the
// master's address, and lacks the last writes, is not exempt from the quarantine,
// although all its answers are those of a durable restart (M4).
func TestTracePromotedDurableReplica(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, f := range c.masters {
			f.set(func() { f.AOF = true })
		}
		c.masters[2].freeze()
		time.Sleep(1500 * time.Millisecond)
		c.want(do(c.q, acquire("k", "A", 60*time.Second)), Won)
		f := c.masters[0]
		f.kill()
		f.Del("k") // not replicated yet; the mark and its beat were
		f.Promoted = true
		f.startWithMemory() // another run_id, aof, our mark
		c.masters[2].thaw()
		time.Sleep(3 * time.Second)
		if o := do(c.q, acquire("k", "B", 60*time.Second)); o.Verdict == Won {
			t.Errorf("B won while A holds: %+v", c.state(0))
		}
	})
}

// TestTraceWaitIgnoresKnownGreatest checks that the wait is never less than the
// greatest hold that is known (M4).
func TestTraceWaitIgnoresKnownGreatest(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", 250*time.Second)), Won)
		synctest.Wait()
		c.stop(c.q)
		c.cfg.MaxTTL = 5 * time.Second // lowered, and restarted
		c.masters[0].kill()
		c.masters[0].startEmpty()
		c.masters[1].kill() // and cannot be asked
		c.q = c.redlockd()
		time.Sleep(15 * time.Second)
		if s := c.state(0); s.State == Voting {
			t.Errorf("a new mark after %v, and the mark of c knows of a hold of 500s: %+v", 15*time.Second, s)
		}
	})
}

// TestTraceStaleGreatest checks that a hold that another instance granted meanwhile is
// not missed because the marks were read a second ago, while two masters are slow but
// within timeout (M4).
func TestTraceStaleGreatest(t *testing.T) {
	bad, tried := 0, 0
	for at := 0; at < 64; at += 4 {
		inBubble(t, 3, func(c *testCluster) {
			second := c.redlockd()
			time.Sleep(3 * time.Second)
			c.slow(7*time.Millisecond, 0) // its looks fall behind those of the others
			time.Sleep(time.Second)
			c.slow(0, 0)
			time.Sleep(time.Second + time.Duration(at)*time.Millisecond)
			c.masters[2].set(func() { c.masters[2].Refused["SET"] = "OOM no" }) // A's lock is on a and b
			o := do(second, acquire("k", "A", 60*time.Second))
			synctest.Wait()
			c.masters[2].set(func() { delete(c.masters[2].Refused, "SET") })
			if o.Verdict != Won || c.masters[2].holds("k") != "" {
				return
			}
			tried++
			c.stop(second) // killed
			c.masters[0].kill()
			c.masters[0].startEmpty()
			c.slow(16*time.Millisecond, 1, 2)
			time.Sleep(1200 * time.Millisecond)
			c.slow(0, 1, 2)
			for range 30 {
				time.Sleep(50 * time.Millisecond)
				if o := do(c.q, acquire("k", "B", time.Second)); o.Verdict == Won {
					bad++
					t.Log("at", at)
					return
				}
			}
		})
	}
	if bad > 0 || tried == 0 {
		t.Errorf("two holders in %d of %d", bad, tried)
	}
}

// TestTraceFencelessFirstConnection checks that releases of the first connection carry a
// deadline, too, where redlockd has no right to kill connections (M3).
func TestTraceFencelessFirstConnection(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		f := c.masters[0]
		f.set(func() { f.Refused["CLIENT KILL"] = "NOPERM no" })
		other := c.redlockd()
		time.Sleep(5 * time.Second)
		before := len(f.commands(0))
		for range 2 { // the first time the script goes as text
			c.want(do(other, acquire("k", "t", 60*time.Second)), Won)
			c.want(do(other, release("k", "t")), Won)
			synctest.Wait()
		}
		if plain, limited := f.calls(before, scripts.Release), f.calls(before, scripts.Change); plain > 0 || limited != 2 {
			t.Errorf("%d releases went out without a deadline, %d with one", plain, limited)
		}
	})
}

// TestTraceFenceForgetsAnotherRunID checks that the fence ends an earlier connection
// even if another server answered at the address meanwhile (M3).
func TestTraceFenceForgetsAnotherRunID(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		f := c.masters[0]
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		cut := func(runID string) {
			f.set(func() { f.RunID = runID })
			f.cut()
			time.Sleep(2 * time.Second)
		}
		before := len(f.commands(0))
		cut("run-another") // the address leads elsewhere for a moment,
		cut("run-a")       // and back
		kills := 0
		for _, line := range f.commands(before) {
			if strings.HasPrefix(line, "CLIENT KILL") {
				kills++
			}
		}
		if kills == 0 {
			t.Error("the first connection to run-a was never fenced")
		}
	})
}

// TestTraceLateVoteRollsBackTheNextAttempt checks that the rollback of a lost attempt
// does not go out a second time behind the next attempt, whose expiry may be the same:
// that would make two holders (V6).
func TestTraceLateVoteRollsBackTheNextAttempt(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		fails := func(masters ...int) {
			for i, f := range c.masters {
				f.set(func() {
					delete(f.Refused, "SET")
					for _, m := range masters {
						if i == m {
							f.Refused["SET"] = "OOM command not allowed when used memory > 'maxmemory'."
						}
					}
				})
			}
		}
		two, tried := 0, 0
		for round := range 40 {
			key := fmt.Sprint("k", round)
			c.slow(6*time.Millisecond, 2)
			fails(0, 1)
			first := do(c.q, acquire(key, "t", 10*time.Second))
			fails(0)
			second := do(c.q, acquire(key, "t", 10*time.Second))
			fails()
			c.slow(0, 2)
			time.Sleep(100 * time.Millisecond)
			if first.Verdict == Undecided && second.Verdict == Won && confirmed(second) {
				tried++
				if o := do(c.q, acquire(key, "u", 10*time.Second)); o.Verdict == Won {
					two++
				}
			}
			time.Sleep(2 * time.Second) // in case a mark was just being written
		}
		if two > 0 {
			t.Errorf("two holders in %d of %d rounds", two, tried)
		}
	})
}

// TestTraceReleaseForgottenWithTheQueue checks that an acquire that was lost with the
// queue did not take the lock again: the release before it is still repeated (V8).
func TestTraceReleaseForgottenWithTheQueue(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		f := c.masters[0]
		f.freeze()
		read := start(c.q, Op{Kind: Read, Key: "other"}) // a batch is under way there
		synctest.Wait()
		c.want(<-read, Absent)
		c.want(do(c.q, release("k", "t")), Won) // both wait behind that batch
		c.masters[1].set(func() { c.masters[1].Refused["SET"] = "OOM no" })
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Undecided) // and is lost
		c.masters[1].set(func() { delete(c.masters[1].Refused, "SET") })
		time.Sleep(8 * time.Second) // the connection is given up
		f.thaw()
		time.Sleep(5 * time.Second)
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies are left of a lock without a holder", n)
		}
	})
}

// TestTraceNamesAreUnique checks that however quickly one client cycles, the rollback
// of those of its locks that were not answered deletes no copy of the others; and that
// the attempt whose client was answered is forgotten (V6).
func TestTraceNamesAreUnique(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		var unanswered []*Outcome
		for range 100 {
			unanswered = append(unanswered, c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won))
			c.want(do(c.q, release("k", "t")), Won)
		}
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		for _, o := range unanswered {
			o.Undo()
		}
		synctest.Wait()
		if n := c.copies("k", "t"); n != 3 {
			t.Errorf("%d copies of the living lock, want 3", n)
		}
		synctest.Wait()
		s := c.q.keyspace(0).keys.shard("k")
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.queues) != 0 {
			t.Errorf("%d queues are kept for attempts that will not be undone", len(s.queues))
		}
	})
}

// TestTraceCopyInQuarantineExtendsNothing checks that a copy that a late SET left on a
// master after its loss extends nothing (M4). The model found this: A's acquire is on
// its way to c; B has c's vote; c loses its memory, and A's late SET arrives there; A's
// extend would count that copy and the one on a, while B gets b, where A's old copy
// ends.
func TestTraceCopyInQuarantineExtendsNothing(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		lost := c.masters[2]
		lost.FlushAll()
		lost.Set("k", "t")
		lost.SetTTL("k", time.Minute)
		time.Sleep(2 * time.Second)
		c.masters[1].kill()
		time.Sleep(time.Second)
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second}), Undecided)
		o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		if o.State.Token != "t" {
			t.Errorf("read %q", o.State.Token)
		}
		c.want(do(c.q, release("k", "t")), Won)
	})
}

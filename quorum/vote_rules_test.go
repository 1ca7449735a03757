package quorum

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
)

// slow makes masters answer each command only after a delay.
func (c *testCluster) slow(delay time.Duration, masters ...int) {
	for _, i := range masters {
		c.masters[i].set(func() { c.masters[i].Delay = delay })
	}
}

// TestV2LateVotesAreRolledBack checks that votes that come later than timeout win
// nothing, and leave no copies (V2, why 13).
func TestV2LateVotesAreRolledBack(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", time.Second)), Won)
		c.slow(60*time.Millisecond, 0, 1, 2)
		began := time.Now()
		o := c.want(do(c.q, acquire("k", "t", 10*time.Second)), Undecided)
		if took := time.Since(began); took > c.cfg.Timeout {
			t.Errorf("answered after %v, timeout is %v", took, c.cfg.Timeout)
		}
		if !strings.HasPrefix(o.Err.Error(), "NOQUORUM ") {
			t.Errorf("error is %q", o.Err)
		}
		c.slow(0, 0, 1, 2)
		time.Sleep(time.Second)
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
	})
}

// TestV2LateExtendIsNotTold checks that an extend, too, is won only in time (V2, why
// 13).
func TestV2LateExtendIsNotTold(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		c.slow(60*time.Millisecond, 0, 1, 2)
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 20 * time.Second}), Undecided)
	})
}

// TestV2ConfirmLooksAtTheTime checks that the clock is looked at again right before the
// write (V2, why 14).
func TestV2ConfirmLooksAtTheTime(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		o := c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		if _, err := o.Confirm(o.Clock()); err != nil {
			t.Errorf("refused at once: %v", err)
		}
		o = c.want(do(c.q, acquire("l", "t", 10*time.Second)), Won)
		time.Sleep(c.cfg.Timeout + time.Millisecond)
		_, err := o.Confirm(o.Clock())
		if err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM ") {
			t.Errorf("confirmed too late: %v", err)
		}
		synctest.Wait()
		if n := c.copies("l", "t"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
		if n := c.copies("k", "t"); n != 3 {
			t.Errorf("%d copies of the other lock, want 3", n)
		}
	})
}

// TestV3TTLIsTheClients checks that a read never answers more than was asked for, and
// answers "absent" after the TTL, while the key still refuses other clients until its
// hold ends (V3).
func TestV3TTLIsTheClients(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", time.Second)))
		o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		if o.State.TTL > time.Second || o.State.TTL < 900*time.Millisecond {
			t.Errorf("%v are left of 1s", o.State.TTL)
		}
		c.untilOver(time.Second)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Absent)
		c.want(do(c.q, acquire("k", "u", time.Second)), Held)
		time.Sleep(c.cfg.Hold(time.Second, c.cfg.Settings().Padding()) - time.Second + 100*time.Millisecond)
		c.want(do(c.q, acquire("k", "u", time.Second)), Won)
	})
}

// TestV4VerdictFallsWhenCertain checks that a verdict does not wait for slow masters
// that cannot change it (V4).
func TestV4VerdictFallsWhenCertain(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		c.slow(40*time.Millisecond, 3, 4)
		began := time.Now()
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		c.want(do(c.q, acquire("k", "u", 10*time.Second)), Held)
		c.want(do(c.q, release("k", "t")), Won)
		if took := time.Since(began); took > 0 {
			t.Errorf("three fast masters of five, and it took %v", took)
		}
	})
}

// TestV5SplitsEnd checks that several instances that split a lock end with one winner,
// or with an error that reports the split, and never with two winners, or with none
// while all answer that it is held (V5).
func TestV5SplitsEnd(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		others := []*Quorum{c.q, c.redlockd(), c.redlockd()}
		time.Sleep(3 * time.Second)
		for _, q := range others {
			c.want(do(q, acquire("warm", "t", time.Millisecond)), Won)
			time.Sleep(time.Second)
		}
		for round := range 30 {
			// Each instance is nearest to another master.
			key := fmt.Sprint("k", round)
			split := false
			var outs []<-chan *Outcome
			for i, q := range others {
				c.masters[i].set(func() { c.masters[i].Delay = 0 })
				outs = append(outs, start(q, acquire(key, fmt.Sprint("t", i), 5*time.Second)))
			}
			won := 0
			for _, out := range outs {
				switch o := <-out; o.Verdict {
				case Won:
					won++
				case Split:
					split = true
				case Undecided:
					t.Fatalf("undecided: %v", o.Err)
				}
			}
			if won > 1 || won == 0 && !split {
				t.Fatalf("round %d: %d winners", round, won)
			}
		}
	})
}

// TestV5OwnLockIsNoRefusal checks that an acquire-or-extend is not refused by the
// client's own lock, however often it finds that while it is retried (V4, V5).
func TestV5OwnLockIsNoRefusal(t *testing.T) {
	op := Op{Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: 10 * time.Second}
	// One master has another's copy, and is the first to be asked (V5).
	lost := func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		synctest.Wait()
		c.masters[0].Set("k", "another")
		c.masters[4].kill()
		time.Sleep(time.Second)
	}
	t.Run("on a quorum only with the silent", func(t *testing.T) {
		inBubble(t, 5, func(c *testCluster) {
			lost(c)
			c.masters[3].kill()
			time.Sleep(time.Second)
			c.want(do(c.q, op), Split)
		})
	})
	t.Run("on a quorum that answers late", func(t *testing.T) {
		inBubble(t, 5, func(c *testCluster) {
			lost(c)
			c.slow(c.cfg.Timeout+10*time.Millisecond, 3)
			out := start(c.q, op)
			time.Sleep(c.cfg.Timeout + 5*time.Millisecond)
			c.slow(0, 3)
			c.want(<-out, Won)
		})
	})
}

// TestV6RollbackNamesItsAttempt checks that the rollback of an attempt never deletes
// another attempt's lock, not even one with an equal token, or when it comes late (V6,
// why 25).
func TestV6RollbackNamesItsAttempt(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		o := c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		c.want(do(c.q, release("k", "t")), Won)
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		o.Undo() // the first session has gone only now
		synctest.Wait()
		if n := c.copies("k", "t"); n != 3 {
			t.Errorf("%d copies of the living lock, want 3", n)
		}
	})
}

// TestV6ProlongedIsNotRolledBack checks that a lock that an acquire-or-extend prolonged
// is not rolled back (V6, why 26).
func TestV6ProlongedIsNotRolledBack(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		c.slow(30*time.Millisecond, 0, 1, 2)
		op := Op{Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: 60 * time.Second}
		c.want(do(c.q, op), Undecided)
		c.slow(0, 0, 1, 2)
		time.Sleep(time.Second)
		if n := c.copies("k", "t"); n != 3 {
			t.Errorf("%d copies of the lock, want 3", n)
		}
		if o := c.want(do(c.q, op), Won); !o.Prolonged {
			t.Error("answered as acquired, but it was prolonged")
		}
	})
}

// TestV6EqualTokens checks that nine losers with the winner's token do not free its
// lock (V6, why 25).
func TestV6EqualTokens(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		for round := range 50 {
			var outs []<-chan *Outcome
			key := fmt.Sprint("k", round)
			for range 10 {
				outs = append(outs, start(c.q, acquire(key, "same", 10*time.Second)))
			}
			won := 0
			for _, out := range outs {
				o := <-out
				if o.Verdict == Won {
					won++
				} else {
					c.want(o, Held)
				}
			}
			synctest.Wait()
			if n := c.copies(key, "same"); won != 1 || n != 5 {
				t.Fatalf("%d winners with %d copies", won, n)
			}
		}
	})
}

// TestV6FrozenMasterCarriesOutLate checks that a command that a frozen master carries
// out after its thaw does not extend a lock's life, and the copy of a lost attempt is
// rolled back (V6, why 27).
func TestV6FrozenMasterCarriesOutLate(t *testing.T) {
	for _, frozen := range []time.Duration{500 * time.Millisecond, 5 * time.Second, 30 * time.Second} {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("warm", "t", 2*time.Second)), Won)
			c.masters[0].freeze()
			c.masters[1].freeze()
			c.want(do(c.q, acquire("lost", "t", 2*time.Second)), Undecided)
			time.Sleep(frozen)
			c.masters[0].thaw()
			c.masters[1].thaw()
			time.Sleep(2 * time.Second)
			if n := c.copies("lost", "t"); n != 0 {
				t.Errorf("frozen for %v: %d copies are left", frozen, n)
			}
			c.want(do(c.q, acquire("lost", "u", 2*time.Second)), Won)
		})
	}
}

// TestV6LateExtendChangesNothing checks that an extend that is carried out late changes
// nothing, so it never shortens a newer one (V6).
func TestV6LateExtendChangesNothing(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		c.masters[0].freeze()
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: time.Second}), Won)
		time.Sleep(time.Second)
		c.masters[0].thaw()
		time.Sleep(100 * time.Millisecond)
		if left := c.masters[0].TTL("k"); left < 30*time.Second {
			t.Errorf("a late extend has shortened the lock to %v", left)
		}
	})
}

// TestV7Order checks that operations on one key are carried out in the order of their
// arrival (V7).
func TestV7Order(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		first := start(c.q, acquire("k", "a", 10*time.Second))
		second := start(c.q, acquire("k", "b", 10*time.Second))
		third := start(c.q, release("k", "a"))
		fourth := start(c.q, acquire("k", "b", 10*time.Second))
		fifth := start(c.q, Op{Kind: Read, Key: "k"})
		c.want(<-first, Won)
		c.want(<-second, Held)
		c.want(<-third, Won)
		c.want(<-fourth, Won)
		if o := c.want(<-fifth, Held); o.State.Token != "b" {
			t.Errorf("read %q", o.State.Token)
		}
	})
}

// TestV7PollersShare checks that a thousand clients that poll one lock cost the masters
// one poll a round trip (V7).
func TestV7PollersShare(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "holder", 10*time.Second)), Won)
		synctest.Wait()
		before := len(c.masters[0].commands(0))
		c.slow(time.Millisecond, 0, 1, 2)
		var outs []<-chan *Outcome
		for i := range 1000 {
			outs = append(outs, start(c.q, acquire("k", fmt.Sprint(i), 10*time.Second)))
		}
		for _, out := range outs {
			c.want(<-out, Held)
		}
		sets := 0
		for _, line := range c.masters[0].commands(before) {
			if strings.HasPrefix(line, "SET k ") {
				sets++
			}
		}
		if sets == 0 || sets > 3 {
			t.Errorf("1000 pollers cost %d polls", sets)
		}
	})
}

// leaver is a client that can leave.
type leaver struct{ gone atomic.Bool }

func (l *leaver) Gone() bool { return l.gone.Load() }

// TestV7WinnerHasGone checks that if the client whose acquire went out has gone, the
// lock is rolled back, and the next acquire goes out (V7, P5).
func TestV7WinnerHasGone(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		c.slow(5*time.Millisecond, 0, 1, 2)
		who := &leaver{}
		op := acquire("k", "gone", 10*time.Second)
		c.q.Do(&op, who, func(*Outcome) {})
		next := start(c.q, acquire("k", "next", 10*time.Second))
		who.gone.Store(true)
		c.want(<-next, Won)
		c.slow(0, 0, 1, 2)
		time.Sleep(time.Second)
		if n := c.copies("k", "next"); n != 3 {
			t.Errorf("%d copies of the next one's lock, want 3", n)
		}
	})
}

// TestV7WaitingIsBounded checks that no operation waits longer than timeout +
// retry_budget; and that a release that waited too long is carried out all the same
// (V2, V7).
func TestV7WaitingIsBounded(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		c.slow(4*time.Millisecond, 0, 1, 2) // 12 ms a batch, and a look takes less than timeout
		began := time.Now()
		var outs []<-chan *Outcome
		for range 60 {
			outs = append(outs, start(c.q, release("k", fmt.Sprint("another", len(outs)))))
		}
		last := start(c.q, release("k", "t"))
		for _, out := range outs {
			<-out
		}
		if o := c.want(<-last, Undecided); !strings.Contains(o.Err.Error(), "came first") {
			t.Errorf("it did not outstay: %v", o.Err)
		}
		if took := time.Since(began); took > c.cfg.Timeout+c.cfg.RetryBudget {
			t.Errorf("waited %v", took)
		}
		time.Sleep(5 * time.Second)
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("the release was not carried out: %d copies", n)
		}
	})
}

// TestV8BareMajority checks that no read, extend or release is answered with no while
// the lock may have a quorum with the silent masters (V8, why 39).
func TestV8BareMajority(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.masters[3].kill()
		c.masters[4].kill()
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		c.masters[3].startWithMemory()
		c.masters[4].startWithMemory()
		time.Sleep(2 * time.Second)
		c.masters[2].kill()
		time.Sleep(100 * time.Millisecond)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Undecided)
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second}), Undecided)
		c.want(do(c.q, release("k", "t")), Undecided)
	})
}

// TestV8ReleaseIsRepeated checks that a release is repeated to a master that was frozen
// (V8).
func TestV8ReleaseIsRepeated(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		c.masters[0].freeze()
		c.want(do(c.q, release("k", "t")), Won)
		if c.masters[0].holds("k") != "t" {
			t.Fatal("the frozen master has released already")
		}
		time.Sleep(4 * time.Second)
		c.masters[0].thaw()
		time.Sleep(4 * time.Second)
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
	})
}

// TestV8RepeatedReleaseSparesTheNextLock checks that a release is not repeated if this
// redlockd has taken the key with that token since (V8).
func TestV8RepeatedReleaseSparesTheNextLock(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		c.masters[0].freeze()
		c.want(do(c.q, release("k", "t")), Won)
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		time.Sleep(4 * time.Second)
		c.masters[0].thaw()
		time.Sleep(4 * time.Second)
		if n := c.copies("k", "t"); n < 2 {
			t.Errorf("%d copies of the living lock", n)
		}
	})
}

// TestV14Errors checks that WRONGTYPE is a refusal, and every other error silent (V14).
func TestV14Errors(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, f := range c.masters {
			f.SetForeign("list")
		}
		c.want(do(c.q, acquire("list", "t", time.Second)), Held)
		o := do(c.q, Op{Kind: Read, Key: "list"})
		if o.Err == nil || !strings.HasPrefix(o.Err.Error(), "WRONGTYPE ") {
			t.Errorf("a list is read as %v, %v", o.Verdict, o.Err)
		}
		for _, f := range c.masters[:2] {
			f.set(func() { f.Refused["SET"] = "OOM command not allowed when used memory > 'maxmemory'." })
		}
		c.want(do(c.q, acquire("k", "t", time.Second)), Undecided)
		time.Sleep(time.Millisecond)
		for _, f := range c.masters {
			f.refuse("MISCONF Errors writing to the AOF file: No space left on device")
		}
		o = c.want(do(c.q, Op{Kind: Remove, Key: "k"}), Undecided)
		if strings.Count(o.Err.Error(), "answered MISCONF") < 2 || strings.Contains(o.Err.Error(), "OOM") {
			t.Errorf("every master answers MISCONF, and the error is %v", o.Err) // the verdict may fall without the third
		}
	})
}

// TestV14ScriptFlush checks that a master whose scripts were flushed gets them again
// (V14).
func TestV14ScriptFlush(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		synctest.Wait()
		for _, f := range c.masters[:1] {
			f.FlushScripts()
		}
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		synctest.Wait()
		for _, f := range c.masters[1:] {
			f.FlushScripts()
		}
		c.want(do(c.q, release("k", "nobody")), Held)
		synctest.Wait()
		c.want(do(c.q, release("k", "t")), Won)
		time.Sleep(2 * time.Second)
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
	})
}

// TestV12AnyNumber checks that locks work with a single master, and with an even number
// (V12).
func TestV12AnyNumber(t *testing.T) {
	for _, n := range []int{1, 2, 4, 7} {
		inBubble(t, n, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "t", time.Second)), Won)
			c.want(do(c.q, acquire("k", "u", time.Second)), Held)
			c.want(do(c.q, release("k", "t")), Won)
		})
	}
}

// TestDecide checks that a Decide carries out the operation that follows from what it
// read.
func TestDecide(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		prolong := func(s State) Op {
			return Op{Kind: Extend, Key: "k", Token: s.Token, TTL: s.TTL + 5*time.Second}
		}
		o := c.want(do(c.q, Op{Kind: Decide, Key: "k", Decide: prolong}), Won)
		if o.Done != Extend {
			t.Errorf("done is %v", o.Done)
		}
		o = c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		if o.State.TTL < 14*time.Second || o.State.TTL > 15*time.Second {
			t.Errorf("%v are left, want nearly 15s", o.State.TTL)
		}
	})
}

// TestWatch checks that a watch sees every change of its key through this redlockd, and
// no earlier one (S4).
func TestWatch(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		acquired := start(c.q, acquire("k", "t", 10*time.Second))
		var w Watch
		c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &w}), Held)
		c.want(<-acquired, Won)
		if w.Changed() {
			t.Error("changed by what came before")
		}
		c.want(do(c.q, acquire("k", "u", 10*time.Second)), Held)
		if w.Changed() {
			t.Error("changed by a refused acquire")
		}
		c.masters[0].freeze()
		c.masters[1].freeze()
		c.want(do(c.q, acquire("k", "u", 10*time.Second)), Undecided)
		c.want(do(c.q, release("k", "u")), Undecided)
		c.masters[0].thaw()
		c.masters[1].thaw()
		time.Sleep(3 * time.Second)
		if w.Changed() {
			t.Error("changed by an undecided operation")
		}
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 20 * time.Second}), Won)
		if !w.Changed() {
			t.Error("not changed by an extend")
		}
		c.want(do(c.q, Op{Kind: Release, Key: "k", Token: "t", Unless: []*Watch{&w}}), Changed)
		w.Close()
		w.Close()
	})
}

// TestV8ReleaseInVainSparesTheNextLock checks that a release that was sent again and
// again in vain is not repeated any more if an acquire with that token follows it (V8).
func TestV8ReleaseInVainSparesTheNextLock(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		time.Sleep(500 * time.Millisecond) // no look comes in between
		c.masters[2].Del("k")              // as if it had been silent then
		c.slow(2*time.Millisecond, 2)
		c.masters[2].refuse("BUSY Redis is busy running a script.")
		c.want(do(c.q, release("k", "t")), Won)
		time.Sleep((1+outbox.MaxTries)*6*time.Millisecond - 3*time.Millisecond) // each batch has three commands
		c.masters[2].refuse("")
		c.masters[0].freeze()
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		time.Sleep(4 * time.Second)
		if n := c.copies("k", "t"); n < 2 {
			t.Errorf("%d copies of the living lock", n)
		}
	})
}

// TestV8ReleaseInVainSparesOtherWays checks that a release that was sent in vain is not
// repeated either if a transaction takes the lock, whichever of its keys it is, or if a
// lock gets that token later (V8).
func TestV8ReleaseInVainSparesOtherWays(t *testing.T) {
	const ttl = 60 * time.Second
	for name, ops := range map[string][]Op{
		"first of a transaction":  {takeAll("t", ttl, "k", "other")},
		"second of a transaction": {takeAll("t", ttl, "other", "k")},
		"stored":                  {{Kind: Store, Key: "k", Token: "t", TTL: ttl}},
		"given another token": {acquire("k", "a", ttl),
			{Kind: Extend, Key: "k", Token: "a", Replace: true, NewToken: "t", TTL: ttl}},
	} {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "t", ttl)), Won)
			time.Sleep(500 * time.Millisecond) // no look comes in between
			c.masters[2].Del("k")
			c.slow(2*time.Millisecond, 2)
			c.masters[2].refuse("BUSY Redis is busy running a script.")
			c.want(do(c.q, release("k", "t")), Won)
			time.Sleep(50 * time.Millisecond) // by now it is to be repeated
			c.masters[2].refuse("")
			c.masters[0].freeze()
			for _, op := range ops {
				c.want(do(c.q, op), Won)
			}
			time.Sleep(4 * time.Second)
			if n := c.copies("k", "t"); n < 2 {
				t.Errorf("%s: %d copies of the living lock", name, n)
			}
		})
	}
}

// TestV4HolderIsNotToldOfAnother checks that the holder is never answered that another
// client has its lock because of a stale copy on one master while another master is
// silent: with that its own token may have the quorum (V4, P4).
func TestV4HolderIsNotToldOfAnother(t *testing.T) {
	for _, n := range []int{3, 5} {
		inBubble(t, n, func(c *testCluster) {
			op := Op{Kind: AcquireOrExtend, Key: "k", Token: "A", TTL: 60 * time.Second}
			for i := range n / 2 {
				c.masters[i].Set("k", "stale")
				c.masters[i].SetTTL("k", time.Minute)
			}
			c.want(do(c.q, op), Won)
			synctest.Wait()
			c.masters[n-1].freeze()
			time.Sleep(time.Second)
			for range 5 {
				c.want(do(c.q, op), Split)
			}
			c.masters[n-1].thaw()
			time.Sleep(4 * time.Second) // it is looked at within a second, and its clock watched for 1.45 s (M5)
			if o := c.want(do(c.q, op), Won); !o.Prolonged {
				t.Error("answered as acquired, but it was extended")
			}
		})
	}
}

// TestV1AllAtOnce checks that an operation goes to all masters at once, so that it
// takes the time of one round trip and not one for each master (V1).
func TestV1AllAtOnce(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 20*time.Second)), Won)
		const way = 20 * time.Millisecond
		for _, f := range c.masters {
			f.away(way)
		}
		for _, op := range []Op{acquire("k", "t", 10*time.Second), extend("k", "t", 20*time.Second), {Kind: Read, Key: "k"}, release("k", "t")} {
			began := time.Now()
			o := do(c.q, op)
			if took := time.Since(began); o.Err != nil || took >= 3*way {
				t.Errorf("kind %d: %v after %v, three masters one after the other take %v", op.Kind, o.Err, took, 3*way)
			}
			time.Sleep(time.Second)
			want := 5
			if op.Kind == Release {
				want = 0
			}
			if n := c.copies("k", "t"); n != want {
				t.Errorf("kind %d: %d copies, want %d", op.Kind, n, want)
			}
		}
	})
}

// TestV7OwnAcquireIsNotOvertaken checks that operations that a session sent after its
// own acquire wait for it, even while it sleeps between two attempts, and those of
// other sessions do not (S1, V7).
func TestV7OwnAcquireIsNotOvertaken(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		for round := range 10 {
			key := fmt.Sprint("k", round)
			for i, f := range c.masters[:2] {
				f.Set(key, fmt.Sprint("stale", i))
				f.SetTTL(key, time.Minute)
			}
			session, took, freed := &alive{}, make(chan *Outcome, 1), make(chan *Outcome, 1)
			op, back := acquire(key, "A", 10*time.Second), release(key, "A")
			c.q.Do(&op, session, func(o *Outcome) { took <- o })
			c.q.Do(&back, session, func(o *Outcome) { freed <- o })
			synctest.Wait() // the acquire was split, and sleeps
			began := time.Now()
			do(c.q, release(key, "other"))
			if waited := time.Since(began); waited > 0 {
				t.Errorf("another client waited for %v", waited)
			}
			for _, f := range c.masters[:2] {
				f.Del(key)
			}
			c.want(<-took, Won)
			c.want(<-freed, Won)
			synctest.Wait()
			if n := c.copies(key, "A"); n != 0 {
				t.Errorf("%d copies are left of what was released", n)
			}
		}
	})
}

package quorum

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestV7SeveralKeysInOneStep checks that a call on several keys enters all its queues
// in one step, so that two calls with the same keys in opposite orders do not wait for
// one another for ever (V7).
func TestV7SeveralKeysInOneStep(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		forth := make([]string, 64)
		for i := range forth {
			forth[i] = fmt.Sprint("k", i)
		}
		back := slices.Clone(forth)
		slices.Reverse(back)
		// A watch of theirs has changed, so that the calls end as soon as their turn
		// comes.
		var w Watch
		w.changed.Store(true)
		for range 3000 {
			var ready atomic.Int32
			var all sync.WaitGroup
			for _, keys := range [][]string{forth, back} {
				all.Go(func() {
					for ready.Add(1); ready.Load() < 2; {
						runtime.Gosched()
					}
					op := giveAll("t", keys...)
					op.Unless = []*Watch{&w}
					if o := do(c.q, op); o.Verdict != Changed {
						t.Errorf("its turn did not come: %v", o.Err)
					}
				})
			}
			if all.Wait(); t.Failed() {
				return
			}
		}
	})
}

// TestV5RefusedProbeIsLookedAt checks that after a probe that the first master refused
// the key is read on all masters, so that a token that has got a quorum meanwhile is
// Held, and not Split (V5).
func TestV5RefusedProbeIsLookedAt(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		give := func(tokens ...string) {
			for i, f := range c.masters {
				f.Set("k", tokens[i])
				f.SetTTL("k", time.Minute)
			}
		}
		give("x", "y", "z")
		out := start(c.q, acquire("k", "u", 10*time.Second))
		time.Sleep(500 * time.Microsecond) // it sleeps for a millisecond at least
		give("x", "x", "x")
		if o := c.want(<-out, Held); o.State.Token != "x" {
			t.Errorf("held by %q", o.State.Token)
		}
	})
}

// TestV11AnotherTokenIsMet checks that the required master's refusal does not show a
// holder if another instance's token was found too, since one of the two is about to be
// rolled back (V11).
func TestV11AnotherTokenIsMet(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		old.oldTake("k", "old", 30*time.Second)
		c.masters[1].oldTake("k", "x", 30*time.Second)
		c.slow(time.Millisecond, 3, 4) // b, which has x, is among the first to answer
		c.want(do(c.q, acquire("k", "new", 10*time.Second)), Split)
		c.masters[1].Del("k")
		if o := c.want(do(c.q, acquire("k", "new", 10*time.Second)), Held); o.State.Token != "old" {
			t.Errorf("held by %q", o.State.Token)
		}
	})
}

// TestS1SeveralKeysKeepTheOrder checks that what a session sends after a call on several
// keys waits for it on each of them, also while that sleeps between two attempts, and that a
// call on several keys waits for a sleeping one that its session sent before (S1).
func TestS1SeveralKeysKeepTheOrder(t *testing.T) {
	single := func(keys ...string) Op { return acquire(keys[0], "A", 10*time.Second) }
	several := func(keys ...string) Op { return takeAll("A", 10*time.Second, keys...) }
	one := func(keys ...string) Op { return release(keys[0], "A") }
	all := func(keys ...string) Op { return giveAll("A", keys...) }
	for name, ops := range map[string][2]func(...string) Op{
		"several, then one": {several, one}, "several, then several": {several, all}, "one, then several": {single, all},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
				for round := range 10 {
					keys := []string{fmt.Sprint("k", round), fmt.Sprint("l", round)}
					stale := func() {
						for i, f := range c.masters[:2] {
							f.Set(keys[0], fmt.Sprint("stale", i))
							f.SetTTL(keys[0], time.Minute)
						}
					}
					session, took, freed := &alive{}, make(chan *Outcome, 1), make(chan *Outcome, 1)
					take, give := ops[0](keys...), ops[1](keys...)
					if decide, first := take.DecideAll, true; decide != nil {
						take.DecideAll = func(s []State) []Change {
							if first {
								stale() // after it was read
							}
							first = false
							return decide(s)
						}
					} else {
						stale()
					}
					c.q.Do(&take, session, func(o *Outcome) { took <- o })
					c.q.Do(&give, session, func(o *Outcome) { freed <- o })
					synctest.Wait() // the first one was split, and sleeps
					if len(took) > 0 || len(freed) > 0 {
						t.Fatal("answered already")
					}
					for _, f := range c.masters[:2] {
						f.Del(keys[0])
					}
					c.want(<-took, Won)
					c.want(<-freed, Won)
					synctest.Wait()
					if n := c.copies(keys[0], "A"); n != 0 {
						t.Errorf("%d copies are left of what was released", n)
					}
				}
			})
		})
	}
}

// TestV7SeveralKeysNeverWaitForOneAnother checks that no calls on several keys wait for one
// another for ever because a session's call waits for its own that sleeps (V7, S1).
func TestV7SeveralKeysNeverWaitForOneAnother(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		for i, f := range c.masters[:2] {
			f.Set("k", fmt.Sprint("stale", i))
			f.SetTTL("k", time.Minute)
		}
		one, two := &alive{}, &alive{}
		begin := func(session *alive, op Op) { c.q.Do(&op, session, func(*Outcome) {}) }
		begin(one, acquire("k", "A", 10*time.Second))
		synctest.Wait() // it was split, and sleeps
		begin(one, giveAll("A", "k", "l"))
		begin(two, giveAll("B", "k", "l"))
		time.Sleep(5 * time.Second)
		if n := c.q.Status().Waiting; n != 0 {
			t.Errorf("%d calls still wait", n)
		}
	})
}

// TestV7SplitThatLastsDelaysNobody checks that clients which poll a lock that one living master
// has, while another one lacks it and the third is down, are soon told that it is held, and that
// its release waits for no read that cannot tell (V7, V4).
func TestV7SplitThatLastsDelaysNobody(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", time.Minute)), Won)
		synctest.Wait()
		c.masters[1].Del("k")
		c.masters[2].kill()
		time.Sleep(5 * time.Second)
		began := time.Now()
		var polls []<-chan *Outcome
		for i := range 100 {
			polls = append(polls, start(c.q, acquire("k", fmt.Sprint("B", i), time.Minute)))
		}
		for _, told := range polls {
			c.want(<-told, Held)
		}
		if took := time.Since(began); took > 2*c.cfg.Timeout {
			t.Errorf("the pollers wait for %v", took)
		}
		read := start(c.q, Op{Kind: Read, Key: "k"})
		synctest.Wait()
		began = time.Now()
		do(c.q, release("k", "A"))
		if took := time.Since(began); took > c.cfg.Timeout {
			t.Errorf("the release waits for %v", took)
		}
		c.want(<-read, Absent)
	})
}

package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestV8LateExtendDropsNoRelease checks that a release that is to be repeated is not dropped
// when the answer to an earlier extend, which was lost, comes late (V8).
func TestV8LateExtendDropsNoRelease(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", 60*time.Second)), Won)
		synctest.Wait()
		time.Sleep(500 * time.Millisecond) // no look comes in between
		frozen := c.masters[1:]
		for _, f := range frozen {
			f.freeze()
		}
		c.want(do(c.q, extend("k", "A", 60*time.Second)), Undecided)
		c.want(do(c.q, release("k", "A")), Undecided)
		for _, f := range frozen {
			f.thaw()
		}
		time.Sleep(3 * time.Second)
		if n := c.copies("k", "A"); n != 0 {
			t.Errorf("%d copies are left of what was released", n)
		}
	})
}

// TestV8ChangesThatFailTogether checks that of two changes of a lock's token that are on
// their way to a master that answers errors neither is lost (V8).
func TestV8ChangesThatFailTogether(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
		synctest.Wait()
		time.Sleep(200 * time.Millisecond)
		f := c.masters[2]
		f.refuse("BUSY a script is running")
		c.slow(2*time.Millisecond, 2)
		c.want(do(c.q, replaceBy("k", "A", "B", 20*time.Second)[0]), Won)
		time.Sleep(3 * time.Millisecond)
		c.want(do(c.q, replaceBy("k", "B", "C", 20*time.Second)[0]), Won)
		time.Sleep(300 * time.Millisecond)
		c.slow(0, 2)
		f.refuse("")
		time.Sleep(3 * time.Second)
		if got := f.holds("k"); got != "C" {
			t.Errorf("the master that was busy holds %q, want C", got)
		}
	})
}

// TestV8FreedBehindAChangeThatFails checks that nothing is left of a lock that was
// released where the change of its token failed (V8).
func TestV8FreedBehindAChangeThatFails(t *testing.T) {
	for name, free := range map[string]Op{"release": release("k", "B"), "remove": {Kind: Remove, Key: "k"}} {
		for _, pause := range []time.Duration{0, 3 * time.Millisecond, 100 * time.Millisecond} {
			t.Run(name+pause.String(), func(t *testing.T) {
				inBubble(t, 3, func(c *testCluster) {
					c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
					c.want(do(c.q, acquire("warm", "A", 20*time.Second)), Won)
					c.want(do(c.q, release("warm", "A")), Won)
					synctest.Wait()
					time.Sleep(200 * time.Millisecond)
					f := c.masters[2]
					f.set(func() { f.Refused["SET"] = "OOM command not allowed when used memory > 'maxmemory'." })
					c.slow(2*time.Millisecond, 2)
					c.want(do(c.q, replaceBy("k", "A", "B", 20*time.Second)[0]), Won)
					time.Sleep(pause)
					c.want(do(c.q, free), Won)
					time.Sleep(500 * time.Millisecond)
					c.slow(0, 2)
					f.set(func() { delete(f.Refused, "SET") })
					time.Sleep(3 * time.Second)
					if got := f.holds("k"); got != "" {
						t.Errorf("the master that was full still holds %q", got)
					}
				})
			})
		}
	}
}

// TestV8FreedBehindAChangeThatWaits checks the same where the master is frozen.
func TestV8FreedBehindAChangeThatWaits(t *testing.T) {
	for name, free := range map[string]Op{"release": release("k", "B"), "remove": {Kind: Remove, Key: "k"}, "all": giveAll("B", "k")} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
				synctest.Wait()
				time.Sleep(100 * time.Millisecond)
				c.masters[2].freeze()
				c.want(do(c.q, replaceBy("k", "A", "B", 20*time.Second)[0]), Won)
				c.want(do(c.q, free), Won)
				time.Sleep(300 * time.Millisecond)
				c.masters[2].thaw()
				time.Sleep(3 * time.Second)
				if got := c.masters[2].holds("k"); got != "" {
					t.Errorf("the master that was away still holds %q", got)
				}
			})
		})
	}
}

// TestV8SwapWhereAnotherKeyDiffers checks that a change of token by a transaction is made
// also on a master that refused it because of another key (V8).
func TestV8SwapWhereAnotherKeyDiffers(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, takeAll("A", 20*time.Second, "k", "l")), Won)
		synctest.Wait()
		f := c.masters[2]
		f.Set("l", "X")
		f.SetTTL("l", 5*time.Second)
		c.want(do(c.q, Op{Kind: DecideAll, Keys: []string{"k", "l"}, DecideAll: func([]State) []Change {
			return []Change{{Key: "k", Token: "B", TTL: 20 * time.Second}, {Key: "l", Delete: true}}
		}}), Won)
		time.Sleep(3 * time.Second)
		if got := f.holds("k"); got != "B" {
			t.Errorf("the master where l was another's holds %q, want B", got)
		}
	})
}

// TestV8RemovedByTheRequiredWord checks that what a Remove deleted by the required master's
// word is released on the masters that missed it (V8, V11).
func TestV8RemovedByTheRequiredWord(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		c.want(do(c.q, acquire("k", "A", 60*time.Second)), Won)
		synctest.Wait()
		for _, f := range c.masters[1:] {
			f.freeze()
		}
		c.want(do(c.q, Op{Kind: Remove, Key: "k"}), Won)
		time.Sleep(time.Second)
		for _, f := range c.masters[1:] {
			f.thaw()
		}
		time.Sleep(3 * time.Second)
		if n := c.copies("k", "A"); n != 0 {
			t.Errorf("%d copies left", n)
		}
		c.want(do(c.q, acquire("k", "B", 60*time.Second)), Won)
	})
}

// TestM3DeadlineOfAReleaseIsNotKept checks that a release that had a deadline, because the
// master refused the fence, is repeated without when it does not (M3, V8).
func TestM3DeadlineOfAReleaseIsNotKept(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		f := c.masters[2]
		f.set(func() { f.Refused["CLIENT KILL"] = "NOPERM no" })
		f.kill()
		f.mend()
		time.Sleep(3 * time.Second)
		c.want(do(c.q, acquire("k", "A", 60*time.Second)), Won)
		synctest.Wait()
		time.Sleep(300 * time.Millisecond)
		f.freeze()
		c.want(do(c.q, release("k", "A")), Won)
		time.Sleep(500 * time.Millisecond)
		f.set(func() { delete(f.Refused, "CLIENT KILL") })
		f.kill()
		f.thaw()
		synctest.Wait()
		f.mend()
		time.Sleep(5 * time.Second)
		if n := c.copies("k", "A"); n != 0 {
			t.Errorf("%d copies are left of what was released", n)
		}
	})
}

// TestV6WhatAsksForMoreShortensNothing checks that an operation on several keys, or a change
// of token, that asks for more than it has read does not shorten what another instance has
// prolonged since (V6).
func TestV6WhatAsksForMoreShortensNothing(t *testing.T) {
	const ttl = 10 * time.Second
	several := func(token string) func(between func()) Op {
		return func(between func()) Op {
			return Op{Kind: DecideAll, Keys: []string{"k", "l"}, DecideAll: func([]State) []Change {
				between()
				return []Change{{Key: "k", Token: token, TTL: ttl}}
			}}
		}
	}
	for name, make := range map[string]func(between func()) Op{
		"several keys": several("A"), "several keys, another token": several("N"),
		"another token": func(between func()) Op {
			return Op{Kind: Decide, Key: "k", Decide: func(State) Op {
				between()
				return Op{Kind: Extend, Key: "k", Token: "A", NewToken: "N", Replace: true, TTL: ttl}
			}}
		},
	} {
		for _, version := range []string{"6.2.14", "7.2.0"} {
			t.Run(name+" "+version, func(t *testing.T) {
				inBubble(t, 3, func(c *testCluster) {
					for _, f := range c.masters {
						f.set(func() { f.Version = version })
					}
					other := c.redlockd()
					time.Sleep(3 * time.Second)
					c.want(do(other, acquire("warm", "A", 20*time.Second)), Won)
					time.Sleep(3 * time.Second)
					c.tell(do(c.q, acquire("k", "A", 5*time.Second)))
					c.tell(do(c.q, make(func() { c.tell(do(other, extend("k", "A", 20*time.Second))) })))
					time.Sleep(11 * time.Second)
					c.want(do(other, acquire("k", "B", 10*time.Second)), Held)
					time.Sleep(10 * time.Second)
					c.want(do(other, acquire("k", "B", 10*time.Second)), Won)
				})
			})
		}
	}
}

// TestV8CloseTellsWhatIsOwed checks that a stop tells of a release that a master which is down
// has yet to get (V8): its copy stays until the TTL is over, and the log says so.
func TestV8CloseTellsWhatIsOwed(t *testing.T) {
	for name, s := range map[string]struct {
		down  bool
		later time.Duration
		told  bool
	}{
		"all masters are up":                {false, 0, false},
		"one is down":                       {true, 0, true},
		"one is down, and the TTL was over": {true, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.want(do(c.q, acquire("k", "A", time.Minute)), Won)
				synctest.Wait()
				if s.down {
					c.masters[2].kill()
					time.Sleep(2 * time.Second)
				}
				c.want(do(c.q, release("k", "A")), Won)
				synctest.Wait()
				time.Sleep(s.later)
				if err := c.stop(c.q); (err != nil) != s.told {
					t.Errorf("Close: %v", err)
				}
			})
		})
	}
}

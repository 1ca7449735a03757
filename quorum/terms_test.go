package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// tell confirms a won outcome and marks it as answered, which begins the client's term.
func (c *testCluster) tell(o *Outcome) {
	c.t.Helper()
	c.want(o, Won)
	if o.Late(o.Clock()) {
		renew(o)
	}
	if err := o.Confirm(o.Clock()); err != nil {
		c.t.Fatal(err)
	}
	o.Answered(o.Clock())
}

// second is the TTL of the locks in these tests.
const second = time.Second

// TestV15OverByTheTTL checks that until the millisecond before its TTL is over a lock
// exists for every operation (V15). A millisecond later it does not. What was asked to delete it
// does so then, what was not a millisecond after it is over by the client's clock, too: so the
// next client gets the lock at once.
func TestV15OverByTheTTL(t *testing.T) {
	orExtend, replace, store := extend("k", "t", second), extend("k", "t", second), acquire("k", "u", second)
	orExtend.Kind, store.Kind, store.IfPresent = AcquireOrExtend, Store, true
	replace.Replace, replace.NewToken = true, "t'"
	for name, ask := range map[string]Op{
		"release": release("k", "t"), "extend": extend("k", "t", second), "change of token": replace,
		"acquire-or-extend": orExtend, "remove": {Kind: Remove, Key: "k"}, "expire": {Kind: Expire, Key: "k", TTL: second},
		"store if present": store, "read": {Kind: Read, Key: "k"},
	} {
		for trouble, meddle := range map[string]func(c *testCluster){
			"none":       func(*testCluster) {},
			"silent":     func(c *testCluster) { c.masters[4].kill() },
			"bare":       func(c *testCluster) { c.masters[3].Del("k"); c.masters[4].Del("k") },
			"other copy": func(c *testCluster) { c.masters[4].Set("k", "x"); c.masters[4].SetTTL("k", 10*second) },
		} {
			t.Run(name+", "+trouble, func(t *testing.T) {
				inBubble(t, 5, func(c *testCluster) {
					drift := c.cfg.Drift(second)
					for _, late := range []time.Duration{-time.Millisecond, time.Millisecond, drift - time.Millisecond, drift + time.Millisecond} {
						c.tell(do(c.q, acquire("k", "t", second)))
						meddle(c)
						time.Sleep(second + late)
						checkOver(c, ask, late > 0, late > drift)
						do(c.q, Op{Kind: Remove, Key: "k"})
						c.masters[4].mend()
						time.Sleep(5 * second)
					}
				})
			})
		}
	}
}

// checkOver checks the answer to an operation on a lock that is over by our clock, or is not, and
// what it leaves of one that is over by its client's clock, too, or is not.
func checkOver(c *testCluster, ask Op, over, byBoth bool) {
	c.t.Helper()
	o := do(c.q, ask)
	had, gone := Won, Absent
	if ask.Kind == Read {
		had = Held
	}
	switch {
	case ask.Kind == AcquireOrExtend:
		if c.want(o, Won); o.Prolonged == over {
			c.t.Errorf("prolonged %v, over %v", o.Prolonged, over)
		}
		return
	case !over:
		c.want(o, had)
		return
	}
	c.want(o, gone)
	if ask.Kind == Read || !byBoth && ask.Kind != Release && ask.Kind != Remove {
		c.want(do(c.q, acquire("k", "u", second)), Held) // only its owner ends it early
		return
	}
	synctest.Wait()
	for _, m := range c.masters {
		if !m.isDown() && m.holds("k") == "t" {
			c.t.Errorf("a copy is left on %s", m.Name)
		}
	}
	c.want(do(c.q, acquire("k", "u", second)), Won)
}

// untilOver sleeps until a TTL that was told now is over for every operation, whatever the
// clocks (V15).
func (c *testCluster) untilOver(ttl time.Duration) {
	time.Sleep(ttl + c.cfg.Drift(ttl) + time.Millisecond)
}

func (f *fakeMaster) isDown() bool {
	f.Lock()
	defer f.Unlock()
	return f.Down
}

// TestV15OverInABundle checks that releases that go out as one script are answered by
// the TTL, too (V15).
func TestV15OverInABundle(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for i := range 6 {
			c.tell(do(c.q, acquire(fmt.Sprint("k", i), "t", second+time.Duration(i/3)*second)))
		}
		time.Sleep(second + 100*time.Millisecond)
		var ops []Op
		for i := range 6 {
			ops = append(ops, release(fmt.Sprint("k", i), "t"))
		}
		for i, out := range c.startBundled(ops...) {
			want := Absent
			if i >= 3 {
				want = Won
			}
			if o := <-out; o.Verdict != want {
				t.Errorf("release %d: %v (%v), want %v", i, o.Verdict, o.Err, want)
			}
		}
		time.Sleep(20 * time.Millisecond) // two masters decide; the third may be some slow commands behind
		for i := range 6 {
			if n := c.copies(fmt.Sprint("k", i), "t"); n > 0 {
				t.Errorf("%d copies of %d are left", n, i)
			}
		}
	})
}

// TestV15OverAtAnotherRedlockd checks that a redlockd that did not grant the lock, and
// so does not know when the client was answered, calls a lock over only when it
// certainly is; also one with another timeout (V15, P4).
func TestV15OverAtAnotherRedlockd(t *testing.T) {
	for name, change := range map[string]func(*cluster.Config){
		"same settings":    func(*cluster.Config) {},
		"a longer timeout": func(cfg *cluster.Config) { cfg.Timeout = 150 * time.Millisecond },
		"a shorter one":    func(cfg *cluster.Config) { cfg.Timeout, cfg.RetryBudget = 20*time.Millisecond, 50*time.Millisecond },
	} {
		for _, ask := range []Op{release("k", "t"), extend("k", "t", second), {Kind: Remove, Key: "k"}, {Kind: Read, Key: "k"}} {
			t.Run(fmt.Sprint(name, ", ", ask.Kind), func(t *testing.T) {
				inBubble(t, 3, func(c *testCluster) {
					late, had := c.cfg.Timeout, Won
					if ask.Kind == Read {
						had = Held
					}
					change(&c.cfg)
					other := c.redlockd()
					time.Sleep(5 * second)
					o := c.want(do(c.q, acquire("k", "t", second)), Won)
					time.Sleep(late)
					c.tell(o)
					time.Sleep(second - time.Millisecond)
					c.want(do(other, ask), had)
					time.Sleep(5 * second)

					c.tell(do(c.q, acquire("k", "t", second)))
					time.Sleep(c.cfg.Hold(second, c.q.agreed.Greatest().Padding))
					c.want(do(other, ask), Absent)
				})
			})
		}
	}
}

// TestV15OverInTimeAtAnotherRedlockd checks that another redlockd with the same
// settings calls a lock over later by no more than a reply may take to leave, plus the
// uncertainty of an expiry (V15).
func TestV15OverInTimeAtAnotherRedlockd(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * second)
		c.tell(do(c.q, acquire("k", "t", second)))
		time.Sleep(second + c.cfg.Timeout + c.cfg.Drift(second) + c.cfg.Grace())
		c.want(do(other, release("k", "t")), Absent)
		synctest.Wait()
		if n := c.copies("k", "t"); n > 0 {
			t.Errorf("%d copies are left", n)
		}
	})
}

// TestV15NotOverByAnEarlierTerm checks that a lock that another redlockd has prolonged,
// or granted under the same token, is not over by the term of this one's own grant
// (V15).
func TestV15NotOverByAnEarlierTerm(t *testing.T) {
	for name, again := range map[string]func(c *testCluster, other *Quorum){
		"prolonged": func(c *testCluster, other *Quorum) { c.tell(do(other, extend("k", "t", 10*second))) },
		"taken anew": func(c *testCluster, other *Quorum) {
			c.want(do(other, release("k", "t")), Won)
			c.tell(do(other, acquire("k", "t", 10*second)))
		},
	} {
		for _, ask := range []Op{release("k", "t"), extend("k", "t", second), {Kind: Remove, Key: "k"}} {
			t.Run(fmt.Sprint(name, ", ", ask.Kind), func(t *testing.T) {
				inBubble(t, 3, func(c *testCluster) {
					other := c.redlockd()
					time.Sleep(3 * second)
					c.tell(do(c.q, acquire("k", "t", second)))
					again(c, other)
					time.Sleep(2 * second)
					c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
					c.want(do(c.q, ask), Won)
				})
			})
		}
	}
}

// TestV15LateReleaseSparesTheNextHolder checks that a late release through the redlockd
// that granted the lock spares the lock that another one has granted since (V15).
func TestV15LateReleaseSparesTheNextHolder(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * second)
		c.tell(do(c.q, acquire("k", "t", second)))
		time.Sleep(second + time.Millisecond)
		c.want(do(c.q, release("k", "t")), Absent)
		synctest.Wait() // what the quorum did not wait for arrives
		c.tell(do(other, acquire("k", "u", second)))
		c.want(do(c.q, release("k", "t")), Held)
		c.want(do(c.q, extend("k", "t", second)), Held)
		synctest.Wait()
		if n := c.copies("k", "u"); n != 3 {
			t.Errorf("%d copies of the next lock, want 3", n)
		}
		time.Sleep(second - 10*time.Millisecond)
		c.want(do(c.q, Op{Kind: Remove, Key: "k"}), Won)
	})
}

// TestV15OverThoughAMinorityWasProlonged checks that a lock that an extend has
// prolonged on a minority is over when its TTL is over on a quorum, and the prolonged
// copies are deleted with it (V15).
func TestV15OverThoughAMinorityWasProlonged(t *testing.T) {
	for _, ask := range []Op{release("k", "t"), extend("k", "t", second)} {
		t.Run(fmt.Sprint(ask.Kind), func(t *testing.T) {
			inBubble(t, 5, func(c *testCluster) {
				c.tell(do(c.q, acquire("k", "t", second)))
				for _, m := range c.masters[2:] {
					m.refuse("BUSY a script is running")
				}
				c.want(do(c.q, extend("k", "t", 10*second)), Undecided)
				for _, m := range c.masters[2:] {
					m.refuse("")
				}
				c.untilOver(second)
				c.want(do(c.q, ask), Absent)
				synctest.Wait()
				if n := c.copies("k", "t"); ask.Kind == Release && n > 0 || n > 2 {
					t.Errorf("%d copies are left", n)
				}
				c.want(do(c.q, acquire("k", "u", second)), Won)
			})
		})
	}
}

// TestV15ReadTellsTheTerm checks that the TTL that is read from the redlockd that
// granted the lock is exact to the millisecond (V15).
func TestV15ReadTellsTheTerm(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", 10*second)))
		time.Sleep(4 * second)
		if o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held); o.State.TTL != 6*second {
			t.Errorf("%v are left, want 6s", o.State.TTL)
		}
		c.tell(do(c.q, extend("k", "t", 8*second)))
		time.Sleep(second)
		if o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held); o.State.TTL != 7*second {
			t.Errorf("%v are left after an extend, want 7s", o.State.TTL)
		}
	})
}

// TestV15CountsFromTheWrite checks that the TTL counts from when the reply was written,
// which may be later than its confirmation, and that the lock exists for commands sent
// before the end of the write is known (V15).
func TestV15CountsFromTheWrite(t *testing.T) {
	for _, ask := range []string{"before", "after"} {
		inBubble(t, 3, func(c *testCluster) {
			o := c.want(do(c.q, acquire("k", "t", second)), Won)
			if err := o.Confirm(o.Clock()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(c.cfg.Timeout / 2) // the reply is being written
			if ask == "before" {
				c.want(do(c.q, extend("k", "t", second)), Won)
				return
			}
			o.Answered(o.Clock())
			time.Sleep(second - time.Millisecond)
			c.want(do(c.q, extend("k", "t", second)), Won)
			c.tell(do(c.q, acquire("l", "t", second)))
			time.Sleep(second + time.Millisecond)
			if o := do(c.q, release("l", "t")); o.Verdict != Absent {
				t.Errorf("%v, and it is over", o.Verdict)
			}
		})
	}
}

// TestV15ShortenedElsewhereAndProlonged checks that a term does not count for a lock
// that another redlockd has shortened since and prolongs again later (V15).
func TestV15ShortenedElsewhereAndProlonged(t *testing.T) {
	for _, kind := range []Kind{Extend, AcquireOrExtend} {
		inBubble(t, 3, func(c *testCluster) {
			other := c.redlockd()
			time.Sleep(3 * second)
			c.tell(do(c.q, acquire("k", "t", 10*second)))
			c.want(do(other, Op{Kind: Expire, Key: "k", TTL: second}), Won)
			synctest.Wait()
			again := extend("k", "t", second)
			again.Kind = kind
			c.tell(do(c.q, again))
			time.Sleep(second + time.Millisecond)
			c.tell(do(other, extend("k", "t", 5*second)))
			c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
			c.want(do(c.q, extend("k", "t", second)), Won)
		})
	}
}

// TestV15NotedOfItsOwnKey checks that a term is noted for its own key even if other
// keys came into use before the reply was confirmed (V15).
func TestV15NotedOfItsOwnKey(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", 10*second)))
		extended := c.want(do(c.q, extend("k", "t", 10*second)), Won)
		const others = 300 // some of them share the shard
		for i := range others {
			c.tell(do(c.q, acquire(fmt.Sprint(i), "t", second)))
		}
		c.tell(extended)
		time.Sleep(second + time.Millisecond)
		for i := range others {
			if o := do(c.q, release(fmt.Sprint(i), "t")); o.Verdict != Absent {
				t.Errorf("key %d is over, and its release is %v", i, o.Verdict)
			}
		}
	})
}

// TestV15ExtendThatKeepsTheExpiry checks that a lock is over in time although an extend
// asked for slightly less than was left, so that the copies kept their expiries (V15).
func TestV15ExtendThatKeepsTheExpiry(t *testing.T) {
	for _, kind := range []Kind{Extend, AcquireOrExtend} {
		inBubble(t, 6, func(c *testCluster) {
			kept := 0
			for i := range 60 {
				k, again := acquire(fmt.Sprint(i), "t", second), extend(fmt.Sprint(i), "t", second)
				again.Kind = kind
				c.tell(do(c.q, k))
				before := c.masters[0].TTL(k.Key)
				c.tell(do(c.q, again))
				if left := c.masters[0].TTL(k.Key); left <= before {
					kept++
				}
				time.Sleep(second + time.Millisecond)
				if o := do(c.q, release(k.Key, "t")); o.Verdict != Absent {
					t.Errorf("kind %v, %d: it is over, and its release is %v", kind, i, o.Verdict)
				}
			}
			if kept == 0 {
				t.Error("no copy has kept its expiry")
			}
		})
	}
}

// TestV3ProlongedElsewhereIsReadWhole checks that right after a grant a read answers no
// more than was asked for, unless another redlockd has prolonged the lock since: a
// client that adds to what it reads would cut it short (V3).
func TestV3ProlongedElsewhereIsReadWhole(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * second)
		c.tell(do(c.q, acquire("k", "t", 3*second)))
		synctest.Wait()
		c.tell(do(other, extend("k", "t", 30*second)))
		synctest.Wait() // all masters have both
		if o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held); o.State.TTL < 29*second {
			t.Errorf("%v are left of 30s", o.State.TTL)
		}
	})
}

// TestV15ProlongedAfterAStep checks that an expiry given by clocks that have stepped
// back since does not count for a lock that another redlockd has prolonged by the
// present clocks (V15).
func TestV15ProlongedAfterAStep(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * second)
		c.tell(do(c.q, acquire("k", "t", 4*second)))
		for _, m := range c.masters { // at once: they vote again after being watched
			m.set(func() { m.Offset -= 20 * second })
		}
		time.Sleep(3 * second)
		c.tell(do(other, extend("k", "t", 4*second)))
		time.Sleep(2 * second)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
	})
}

// TestV15ReplyThatLeavesLate checks that a reply that leaves after another client has
// taken the lock does not end what is known of that client's term (V15).
func TestV15ReplyThatLeavesLate(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		first := do(c.q, acquire("k", "t", second))
		time.Sleep(time.Millisecond)
		c.want(do(c.q, Op{Kind: Remove, Key: "k"}), Won)
		c.tell(do(c.q, acquire("k", "u", second/4)))
		c.tell(first)
		time.Sleep(second/4 + time.Millisecond)
		c.want(do(c.q, release("k", "u")), Absent)
	})
}

// TestV15GrantBeforeItsReply checks that a lock is not over by an earlier grant while the
// reply to a later one has not left yet (V15): the later one asked for less than the copies
// had, so they still bear the expiries of the earlier one. Another client's PEXPIRE would
// delete them.
func TestV15GrantBeforeItsReply(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.Timeout = 400 * time.Millisecond }, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", second)))
		again := acquire("k", "t", second-50*time.Millisecond)
		again.Kind = AcquireOrExtend
		c.tell(do(c.q, again))
		time.Sleep(second - 100*time.Millisecond)
		late := c.want(do(c.q, extend("k", "t", 60*time.Millisecond)), Won)
		time.Sleep(55 * time.Millisecond)
		c.want(do(c.q, Op{Kind: Expire, Key: "k", TTL: 8 * second}), Won)
		c.tell(late)
		if n := c.copies("k", "t"); n < 2 {
			t.Errorf("%d masters have the lock", n)
		}
	})
}

package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// renew renews an outcome and waits for the end.
func renew(o *Outcome) {
	done := make(chan struct{})
	o.Renew(nil, func() { close(done) })
	<-done
}

// TestV2OKLeavesWithinATimeout checks that an OK may leave up to a timeout after the
// attempt that won began, and not a moment later (V2).
func TestV2OKLeavesWithinATimeout(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, wait := range []time.Duration{0, c.cfg.Timeout - time.Millisecond, c.cfg.Timeout, c.cfg.Timeout + 1, c.cfg.Stay()} {
			key := fmt.Sprint("k", wait)
			o := c.want(do(c.q, acquire(key, "t", 10*time.Second)), Won)
			time.Sleep(wait)
			inTime := wait <= c.cfg.Timeout
			if o.Late(o.Clock()) == inTime {
				t.Errorf("after %v it is late: %v", wait, o.Late(o.Clock()))
			}
			left, err := o.Confirm(o.Clock())
			if (err == nil) != inTime {
				t.Errorf("after %v it is confirmed with %v", wait, err)
			}
			if inTime && left != max(1, c.cfg.Timeout-wait) {
				t.Errorf("after %v the write may take %v", wait, left)
			}
			synctest.Wait()
			if n := c.copies(key, "t"); inTime && n != 3 || !inTime && n != 0 {
				t.Errorf("after %v there are %d copies", wait, n)
			}
		}
	})
}

// TestV2CountsFromTheAttemptThatWon checks that attempts that split before take nothing
// of the time of the attempt that wins (V2).
func TestV2CountsFromTheAttemptThatWon(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.masters[0].Set("k", "x")
		c.masters[1].Set("k", "y")
		out := start(c.q, acquire("k", "t", 10*time.Second))
		time.Sleep(c.cfg.Timeout + 10*time.Millisecond)
		c.masters[0].Del("k")
		c.masters[1].Del("k")
		o := c.want(<-out, Won)
		if o.Took <= c.cfg.Timeout || o.Late(o.Clock()) {
			t.Errorf("it took %v, and is late: %v", o.Took, o.Late(o.Clock()))
		}
	})
}

// grants are the operations that grant something for a time, and whether the client had
// the lock before.
var grants = []struct {
	name string
	op   Op
	had  bool
	all  []string // the tokens after it, by key
}{
	{"acquire", acquire("k", "t", 2*time.Second), false, []string{"t"}},
	{"acquire-or-extend, created", Op{Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: 2 * time.Second}, false, []string{"t"}},
	{"acquire-or-extend, prolonged", Op{Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: 2 * time.Second}, true, []string{"t"}},
	{"extend", Op{Kind: Extend, Key: "k", Token: "t", TTL: 2 * time.Second}, true, []string{"t"}},
	{"replace", Op{Kind: Extend, Key: "k", Token: "t", NewToken: "u", Replace: true, TTL: 2 * time.Second}, true, []string{"u"}},
	{"decide", Op{Kind: Decide, Key: "k", Decide: func(State) Op { return acquire("k", "t", 2*time.Second) }}, false, []string{"t"}},
	{"several", Op{Kind: DecideAll, Key: "k", Keys: []string{"k", "l"}, DecideAll: func([]State) []Change {
		return []Change{{Key: "k", Token: "t", TTL: 2 * time.Second}, {Key: "l", Token: "v", TTL: 2 * time.Second}}
	}}, true, []string{"t", "v"}},
}

// won carries out one of grants and waits until the outcome is late.
func (c *testCluster) won(i int) *Outcome {
	if grants[i].had {
		c.want(do(c.q, acquire("k", "t", time.Second)), Won)
	}
	o := c.want(do(c.q, grants[i].op), Won)
	time.Sleep(4 * c.cfg.Timeout)
	if !o.Late(o.Clock()) {
		c.t.Errorf("%s: it is not late", grants[i].name)
	}
	return o
}

var keysOfGrants = []string{"k", "l"}

// TestV2LateIsRenewed checks that a grant that is late is renewed for its whole TTL,
// and again if it is late again (V2). After the reply no other client gets the lock
// before that TTL is over.
func TestV2LateIsRenewed(t *testing.T) {
	for i, g := range grants {
		inBubble(t, 3, func(c *testCluster) {
			other := c.redlockd()
			time.Sleep(3 * time.Second)
			o := c.won(i)
			renew(o)
			time.Sleep(4 * c.cfg.Timeout)
			renew(o)
			time.Sleep(c.cfg.Timeout)
			if _, err := o.Confirm(o.Clock()); err != nil {
				t.Fatalf("%s: not confirmed: %v", g.name, err)
			}
			told := time.Now()
			for k, token := range g.all {
				if n := c.copies(keysOfGrants[k], token); n != 3 {
					t.Errorf("%s: %d copies", g.name, n)
				}
			}
			for k := range g.all {
				for do(other, acquire(keysOfGrants[k], "other", time.Second)).Verdict != Won {
					time.Sleep(10 * time.Millisecond)
				}
				if had := time.Since(told); had < 2*time.Second {
					t.Errorf("%s: another client has the lock %v after the reply", g.name, had)
				}
			}
		})
	}
}

// TestV2RenewalsEnd checks that renewals end if redlockd is late every time, and
// Confirm fails then (V2).
func TestV2RenewalsEnd(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		o := c.won(0)
		n := 0
		for ; o.Late(o.Clock()) && n < 10*maxRenewals; n++ {
			renew(o)
			time.Sleep(2 * c.cfg.Timeout)
		}
		if n != maxRenewals {
			t.Errorf("renewed %d times, want %d", n, maxRenewals)
		}
		if _, err := o.Confirm(o.Clock()); err == nil {
			t.Error("it is confirmed")
		}
		synctest.Wait()
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
	})
}

// TestV6RenewedIsRolledBack checks that a grant that was renewed and cannot be answered
// is rolled back: a lock that it created is deleted, and one that the client had before
// is not (P5, V6).
func TestV6RenewedIsRolledBack(t *testing.T) {
	for i, g := range grants {
		for _, during := range []bool{false, true} {
			inBubble(t, 3, func(c *testCluster) {
				o := c.won(i)
				if during {
					o.Renew(nil, func() {})
				} else {
					renew(o)
				}
				o.Undo()
				time.Sleep(c.cfg.Timeout)
				want := 0
				if g.had {
					want = 3
				}
				if n := c.copies("k", g.all[0]); n != want {
					t.Errorf("%s, undone while it is renewed %v: %d copies, want %d", g.name, during, n, want)
				}
				if n := c.copies("l", "v"); n != 0 {
					t.Errorf("%s: %d copies of the one that was created", g.name, n)
				}
			})
		}
	}
}

// TestV6RenewedInPartIsRolledBack checks that copies which one renewal misses and a later
// one reaches can still be rolled back (P5, V6): each renewal knows all names that its
// grant has had.
func TestV6RenewedInPartIsRolledBack(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		o := c.won(0)
		for _, missed := range [][]int{{3, 4}, {0, 1}, {}} {
			for _, i := range missed {
				c.masters[i].refuse("BUSY a script is running")
			}
			renew(o)
			for _, i := range missed {
				c.masters[i].refuse("")
			}
			time.Sleep(2 * c.cfg.Timeout)
		}
		o.Undo()
		time.Sleep(c.cfg.Timeout)
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
	})
}

// TestV2ReleasedIsNotRenewed checks that a lock that was released meanwhile, or is
// another client's, is neither renewed nor brought back (V2, V6).
func TestV2ReleasedIsNotRenewed(t *testing.T) {
	for _, second := range []bool{false, true} {
		inBubble(t, 3, func(c *testCluster) {
			o := c.want(do(c.q, acquire("k", "t", 2*time.Second)), Won)
			time.Sleep(4 * c.cfg.Timeout)
			c.want(do(c.q, release("k", "t")), Won)
			if second {
				c.want(do(c.q, acquire("k", "other", 2*time.Second)), Won)
			}
			renew(o)
			if o.Late(o.Clock()) {
				t.Error("it would be renewed for ever")
			}
			if _, err := o.Confirm(o.Clock()); err == nil {
				t.Error("it is confirmed")
			}
			synctest.Wait()
			if n := c.copies("k", "t"); n != 0 {
				t.Errorf("%d copies are back", n)
			}
			if n := c.copies("k", "other"); second && n != 3 {
				t.Errorf("%d copies of the other's", n)
			}
		})
	}
}

// TestV15OverIsNotRenewed checks that a lock whose TTL is over before its reply could leave is not
// renewed, since others may have been told so: it would come back (V15, V2).
func TestV15OverIsNotRenewed(t *testing.T) {
	for _, counted := range []bool{false, true} {
		inBubble(t, 3, func(c *testCluster) {
			op, left := acquire("k", "t", 100*time.Millisecond), 0
			if counted {
				c.tell(do(c.q, op))
				op, left = extend("k", "t", 110*time.Millisecond), 3
			}
			o := c.want(do(c.q, op), Won)
			c.untilOver(op.TTL)
			c.want(do(c.q, Op{Kind: Read, Key: "k"}), Absent)
			renew(o)
			if _, err := o.Confirm(o.Clock()); err == nil {
				t.Error("it is confirmed")
			}
			c.want(do(c.q, Op{Kind: Read, Key: "k"}), Absent)
			synctest.Wait()
			if n := c.copies("k", "t"); n != left {
				t.Errorf("extended %v: %d copies are left, want %d", counted, n, left)
			}
		})
	}
}

// TestV2SeveralAreRenewedOrNone checks that if one of several locks is not renewed,
// none is granted, and those created are rolled back (V2).
func TestV2SeveralAreRenewedOrNone(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		o := c.won(len(grants) - 1)
		c.want(do(c.q, release("k", "t")), Won)
		renew(o)
		if _, err := o.Confirm(o.Clock()); err == nil {
			t.Error("it is confirmed")
		}
		synctest.Wait()
		if n := c.copies("l", "v"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
	})
}

// TestV2FreeingIsNeverLate checks that a transaction that only deletes promises
// nothing, and may be answered at any time (V2).
func TestV2FreeingIsNeverLate(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 2*time.Second)), Won)
		o := c.want(do(c.q, Op{Kind: DecideAll, Key: "k", Keys: []string{"k"}, DecideAll: func([]State) []Change {
			return []Change{{Key: "k", Delete: true}}
		}}), Won)
		time.Sleep(4 * c.cfg.Timeout)
		if _, err := o.Confirm(o.Clock()); err != nil || o.Late(o.Clock()) {
			t.Errorf("it is late: %v %v", o.Late(o.Clock()), err)
		}
	})
}

// TestV9SlowHealIsRenewed checks that an extend whose heal is not answered, so that it
// ends later than a timeout after it began, is renewed and not lost (V9).
func TestV9SlowHealIsRenewed(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		f := c.masters[0]
		f.Del("k")
		c.slow(4*time.Millisecond, 1, 2)
		out := start(c.q, extend("k", "t", 60*time.Second))
		time.Sleep(time.Millisecond)
		f.freeze()
		o := c.want(<-out, Won)
		if !o.Late(o.Clock()) {
			t.Fatal("it is not late")
		}
		renew(o)
		if _, err := o.Confirm(o.Clock()); err != nil {
			t.Errorf("not confirmed: %v", err)
		}
	})
}

// TestV3RefusedAfterItsTTL checks that a lock that was not released is refused to
// others after its TTL for two timeouts and the drift, plus what a name may add, and no
// longer (V3).
func TestV3RefusedAfterItsTTL(t *testing.T) {
	for _, ttl := range []time.Duration{100 * time.Millisecond, time.Second, 30 * time.Second} {
		inBubble(t, 3, func(c *testCluster) {
			other := c.redlockd()
			time.Sleep(3 * time.Second)
			var least, most, sum time.Duration
			const rounds = 6
			for i := range time.Duration(rounds) {
				time.Sleep(i * 37 * time.Millisecond)
				key := fmt.Sprint("k", i)
				c.want(do(c.q, acquire(key, "t", ttl)), Won)
				took := time.Now()
				time.Sleep(ttl)
				for do(other, acquire(key, "u", time.Second)).Verdict != Won {
					time.Sleep(time.Millisecond)
				}
				after := time.Since(took) - ttl
				if sum += after; least == 0 || after < least {
					least = after
				}
				most = max(most, after)
			}
			t.Logf("a lock of %v is refused for %v to %v after its TTL, on average %v", ttl, least, most, sum/rounds)
			if limit := 2*c.cfg.Timeout + c.cfg.Drift(ttl+2*c.cfg.Timeout) + c.cfg.LookSlack() + 5*time.Millisecond; most > limit || least < 2*c.cfg.Timeout {
				t.Errorf("a lock of %v is refused for %v to %v, want %v to %v", ttl, least, most, 2*c.cfg.Timeout, limit)
			}
		})
	}
}

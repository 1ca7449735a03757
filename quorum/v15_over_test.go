package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// asksOfALock are operations whose answer depends on whether a lock is over, and what each is
// answered while it is not.
func asksOfALock() map[string]struct {
	op  Op
	had Verdict
} {
	orExtend, replace, store := extend("k", "t", second), extend("k", "t", second), acquire("k", "u", second)
	orExtend.Kind, store.Kind, store.IfPresent = AcquireOrExtend, Store, true
	replace.Replace, replace.NewToken = true, "t'"
	return map[string]struct {
		op  Op
		had Verdict
	}{
		"release": {release("k", "t"), Won}, "remove": {Op{Kind: Remove, Key: "k"}, Won}, "read": {Op{Kind: Read, Key: "k"}, Held},
		"extend": {extend("k", "t", second), Won}, "change of token": {replace, Won}, "expire": {Op{Kind: Expire, Key: "k", TTL: second}, Won},
		"store if present": {store, Won}, "acquire-or-extend": {orExtend, Won},
	}
}

// TestV15OverAlike checks that a lock is over in every answer, by every instance alike, from a
// timeout and the drift after its TTL, and in none before its TTL; that nothing but what was asked
// to delete it deletes it then (why 69); and that others are refused until its copies end (V15).
func TestV15OverAlike(t *testing.T) {
	for name, ask := range asksOfALock() {
		for trouble, meddle := range map[string]func(c *testCluster){
			"none":       func(*testCluster) {},
			"silent":     func(c *testCluster) { c.masters[4].kill() },
			"absent":     func(c *testCluster) { c.masters[3].Del("k"); c.masters[4].Del("k") },
			"other copy": func(c *testCluster) { c.masters[4].Set("k", "x"); c.masters[4].SetTTL("k", 10*second) },
		} {
			t.Run(name+", "+trouble, func(t *testing.T) {
				inBubble(t, 5, func(c *testCluster) {
					other := c.redlockd()
					time.Sleep(3 * second)
					for _, by := range []*Quorum{c.q, other} {
						for _, over := range []bool{false, true} {
							c.tell(do(c.q, acquire("k", "t", second)))
							synctest.Wait()
							meddle(c)
							if over {
								c.untilOver(second)
							} else {
								time.Sleep(second - time.Millisecond)
							}
							c.checkOver(by, ask.op, ask.had, over)
							c.masters[4].mend()
							time.Sleep(15 * second)
						}
					}
				})
			})
		}
	}
}

// checkOver checks the answer to an operation on a lock that is over or not, and what it leaves.
func (c *testCluster) checkOver(by *Quorum, ask Op, had Verdict, over bool) {
	c.t.Helper()
	copies := func() (n int) {
		for _, f := range c.masters[:4] { // the other one may be down
			if f.holds("k") == "t" {
				n++
			}
		}
		return n
	}
	before := copies()
	o := do(by, ask)
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
	c.want(o, Absent)
	synctest.Wait()
	frees := ask.Kind == Release || ask.Kind == Remove
	if n := copies(); frees && n > 0 || !frees && n != before {
		c.t.Errorf("%d copies are left of %d", n, before)
	}
	next := Held
	if frees {
		next = Won
	}
	c.want(do(by, acquire("k", "u", second)), next)
}

// TestV15OverAtOneThatHasJustStarted checks that who remembers nothing tells the same.
func TestV15OverAtOneThatHasJustStarted(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", 10*second)))
		synctest.Wait()
		c.stop(c.q)
		next := c.redlockd()
		time.Sleep(4 * second)
		if o := c.want(do(next, Op{Kind: Read, Key: "k"}), Held); o.State.TTL > 6*second || o.State.TTL < 6*second-100*time.Millisecond {
			t.Errorf("%v are left of 10s after 4s", o.State.TTL)
		}
		c.untilOver(6 * second)
		c.want(do(next, release("k", "t")), Absent)
		c.want(do(next, acquire("k", "u", second)), Won)
	})
}

// TestV15TTLIsNeverMore checks that no read tells more of a TTL than was asked for, however long
// the ways, and that it tells a millisecond of a lock that is about to be over (V3, V15).
func TestV15TTLIsNeverMore(t *testing.T) {
	for _, way := range []time.Duration{0, 3 * time.Millisecond, 12 * time.Millisecond} {
		inBubble(t, 3, func(c *testCluster) {
			one, other := c.two()
			one.farther(way)
			time.Sleep(3 * second)
			for i := range 20 {
				key := fmt.Sprint("k", i)
				time.Sleep(time.Duration(i) * 77 * time.Millisecond)
				c.tell(do(one.Quorum, acquire(key, "t", second)))
				if o := c.want(do(other, Op{Kind: Read, Key: key}), Held); o.State.TTL > second {
					t.Errorf("with ways of %v: %v are left of 1s", way, o.State.TTL)
				}
			}
			c.tell(do(one.Quorum, acquire("k", "t", second)))
			time.Sleep(second + way/2)
			if o := c.want(do(other, Op{Kind: Read, Key: "k"}), Held); o.State.TTL != time.Millisecond {
				t.Errorf("%v are left after the TTL", o.State.TTL)
			}
		})
	}
}

// TestV15OwnerTakesWhatIsOver checks that who stores its own token anew takes the copies as they
// are, for the whole TTL and at once, while another one's is refused (V15, why 70).
func TestV15OwnerTakesWhatIsOver(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * second)
		takes := Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			if !s.Lapsed {
				t.Errorf("it has read %+v", s)
			}
			return extend("k", "t", 20*second)
		}}
		for _, op := range []Op{takes, {Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: 20 * second}} {
			c.tell(do(c.q, acquire("k", "t", second)))
			c.untilOver(second)
			c.want(do(other, acquire("k", "u", second)), Held)
			c.tell(do(other, op))
			time.Sleep(19 * second)
			c.want(do(c.q, acquire("k", "u", second)), Held)
			c.want(do(c.q, release("k", "t")), Won)
			time.Sleep(second)
		}
	})
}

// TestV15RollbackSparesWhatIsOver checks that an acquire-or-extend creates nothing where a copy is
// over, so that its rollback deletes nothing: by a clock that is ahead its client may rely on the
// lock still (V15, why 69).
func TestV15RollbackSparesWhatIsOver(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", second)))
		c.untilOver(second)
		o := c.want(do(c.q, Op{Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: second}), Won)
		o.Undo() // its client has gone
		synctest.Wait()
		if n := c.copies("k", "t"); n != 3 {
			t.Errorf("%d of 3 copies are left", n)
		}
	})
}

// TestV15BareIsNeverOver checks that what a direct client of a required Redis has stored is over
// when it ends, and not before (V11, V15, why 60).
func TestV15BareIsNeverOver(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for i := range 2 {
			c.overwrite("k", "t", i)
		}
		time.Sleep(30 * time.Second)
		if o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held); o.State.TTL < second {
			t.Errorf("%v are left", o.State.TTL)
		}
		c.want(do(c.q, release("k", "t")), Won)
	})
}

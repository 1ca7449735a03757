package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// tell confirms a won outcome, as a session does right before it writes the reply.
func (c *testCluster) tell(o *Outcome) {
	c.t.Helper()
	c.want(o, Won)
	if o.Late(o.Clock()) {
		renew(o)
	}
	if _, err := o.Confirm(o.Clock()); err != nil {
		c.t.Fatal(err)
	}
}

// second is the TTL of the locks in these tests.
const second = time.Second

// untilOver sleeps until a TTL that was told now is over for every operation (V15).
func (c *testCluster) untilOver(ttl time.Duration) {
	time.Sleep(ttl + c.cfg.Timeout + c.cfg.LookSlack() + 3*time.Millisecond)
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

// TestV15HoldIsTold checks that a read tells when others may have the lock, before its TTL ends,
// after that, and when it is over (V15).
func TestV15HoldIsTold(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * second)
		for _, at := range []time.Duration{0, second / 2, second + 10*time.Millisecond, second + 80*time.Millisecond} {
			c.tell(do(c.q, acquire("k", "t", second)))
			time.Sleep(at)
			s := do(other, Op{Kind: Read, Key: "k"}).State
			time.Sleep(s.Hold - 2*time.Millisecond)
			if o := do(other, acquire("k", "u", second)); o.Verdict != Held {
				t.Errorf("read after %v: %v, before the %v that it tells are over", at, o.Verdict, s.Hold)
			}
			time.Sleep(4 * time.Millisecond)
			c.want(do(other, acquire("k", "u", second)), Won)
			c.want(do(other, release("k", "u")), Won)
		}
	})
}

// TestV15ShortenedElsewhereAndProlonged checks that a lock which another instance has shortened
// and prolonged again is not over before its last TTL is (V15).
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

// TestV3ProlongedElsewhereIsReadWhole checks that right after a grant a read answers no
// more than was asked for, unless another instance has prolonged the lock since: a
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
// back since does not count for a lock that another instance has prolonged by the
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

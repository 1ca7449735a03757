package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// V15: what another instance has given for a shorter TTL, which has less drift, has an
// earlier expiry than what this one has told, and ends later.
func TestV15NotOverByALaterExpiry(t *testing.T) {
	const ttl = 10*second + 300*time.Millisecond
	orExtend := extend("k", "t", second)
	orExtend.Kind = AcquireOrExtend
	for _, ask := range []Op{release("k", "t"), extend("k", "t", second), orExtend, {Kind: Remove, Key: "k"},
		{Kind: Expire, Key: "k", TTL: second}, {Kind: Store, Key: "k", Token: "u", TTL: second, IfPresent: true}, {Kind: Read, Key: "k"}} {
		t.Run(fmt.Sprint(ask.Kind), func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				other := c.redlockd()
				time.Sleep(3 * second)
				c.tell(do(c.q, acquire("k", "t", 60*second)))
				time.Sleep(50 * second)
				c.tell(do(other, extend("k", "t", ttl)))
				time.Sleep(ttl - 20*time.Millisecond)
				had := Won
				if ask.Kind == Read {
					had = Held
				}
				if o := c.want(do(c.q, ask), had); ask.Kind == AcquireOrExtend && !o.Prolonged {
					t.Error("its lock is there, and it was taken anew")
				}
			})
		})
	}
}

// V15: a lock whose client was told late is not over before its TTL, at a redlockd that has
// not told it (why 65).
func TestV15NotOverByBeingToldLate(t *testing.T) {
	const ttl = 5 * second
	inBubbleWith(t, 3, func(cfg *Config) { cfg.Timeout = second }, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(10 * second)
		c.want(do(c.q, acquire("warm", "t", ttl)), Won)
		o := c.want(do(c.q, acquire("k", "t", ttl)), Won)
		time.Sleep(c.cfg.Timeout - 5*time.Millisecond)
		c.tell(o)
		time.Sleep(ttl - 20*time.Millisecond)
		c.want(do(other, extend("k", "t", second)), Won)
	})
}

// V15: the same where the other instance leaves the expiry as it is, since it would have
// given about the same.
func TestV15NotOverByWhatWasKept(t *testing.T) {
	for i := range 40 {
		inBubble(t, 3, func(c *testCluster) {
			other := c.redlockd()
			time.Sleep(3 * second)
			c.tell(do(c.q, acquire("k", "t", 5*second)))
			c.tell(do(c.q, extend("k", "t", 10*second)))
			time.Sleep(2 * second)
			ttl := 7970*time.Millisecond + time.Duration(i)*5*time.Millisecond
			o := c.want(do(other, extend("k", "t", ttl)), Won)
			time.Sleep(c.cfg.Timeout - 5*time.Millisecond)
			c.tell(o)
			time.Sleep(ttl - 2*time.Millisecond)
			if o := do(c.q, extend("k", "t", second)); o.Verdict != Won {
				t.Errorf("extended for %v elsewhere: %v", ttl, o.Verdict)
			}
		})
	}
}

// V13: what keeps its TTL does not grow, however often that is asked for.
func TestV13KeptOftenDoesNotGrow(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", second)))
		synctest.Wait() // what a quorum has not waited for arrives
		before := c.masters[0].TTL("k")
		keep := Op{Kind: Decide, Key: "k", Decide: func(s State) Op { return keep("k", s) }}
		for range 100 {
			c.tell(do(c.q, keep))
		}
		if after := c.masters[0].TTL("k"); after > before+32*time.Millisecond {
			t.Errorf("%v are left of %v", after, before)
		}
	})
}

// TestV15OverThoughARenewalMissedAMaster checks that copies which a renewal did not reach
// are over with the others (V15): they have the expiry of the grant that was renewed.
func TestV15OverThoughARenewalMissedAMaster(t *testing.T) {
	for _, ask := range []Op{release("k", "t"), extend("k", "t", second), {Kind: Remove, Key: "k"}, {Kind: Read, Key: "k"}} {
		t.Run(fmt.Sprint(ask.Kind), func(t *testing.T) {
			overThoughARenewalMissedAMaster(t, ask)
		})
	}
}

func overThoughARenewalMissedAMaster(t *testing.T, ask Op) {
	for range 16 { // which names the two get, and so which expiries, is chance
		inBubble(t, 5, func(c *testCluster) {
			mine := c.cfg.Timeout
			c.cfg.Timeout *= 4
			c.redlockd() // counts a lock as over later than this one, whose timeout is shorter
			time.Sleep(3 * second)
			o := do(c.q, acquire("k", "t", second))
			time.Sleep(mine + time.Millisecond)
			c.masters[2].refuse("BUSY a script is running")
			renew(o)
			c.masters[2].refuse("")
			c.tell(o)
			c.masters[3].kill()
			c.masters[4].kill()
			c.untilOver(second)
			c.want(do(c.q, ask), Absent)
		})
	}
}

// TestV15NotOverByWhatWasCutElsewhere checks that a lock which another instance has
// extended, and then cut to about the expiry that this one had given, is not over when
// this one's TTL is (V15).
func TestV15NotOverByWhatWasCutElsewhere(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * second)
		for i := range 40 {
			k := acquire(fmt.Sprint(i), "t", 10*second)
			c.tell(do(c.q, k))
			if i%2 > 0 {
				c.tell(do(c.q, extend(k.Key, "t", 10*second)))
			}
			c.tell(do(other, extend(k.Key, "t", 20*second)))
			time.Sleep(9 * second)
			rest := second + time.Duration(i*3)*time.Millisecond
			c.want(do(other, Op{Kind: Expire, Key: k.Key, TTL: rest}), Won)
			time.Sleep(rest - time.Millisecond)
			if o := do(c.q, release(k.Key, "t")); o.Verdict != Won {
				t.Errorf("cut to %v elsewhere: %v", rest, o.Verdict)
			}
		}
	})
}

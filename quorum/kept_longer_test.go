package quorum

import (
	"testing"
	"time"
)

// keepEvery keeps the TTL of k again and again, at each redlockd in turn, for as long as it is
// there, and returns for how long that was.
func (c *testCluster) keepEvery(pause, atMost time.Duration, by ...*Quorum) time.Duration {
	began := time.Now()
	for i := 0; time.Since(began) < atMost; i++ {
		o := do(by[i%len(by)], Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			if !s.Found {
				return Op{Kind: Read}
			}
			return keep("k", s)
		}})
		if o.Verdict != Won {
			break
		}
		c.tell(o)
		time.Sleep(pause)
	}
	return time.Since(began)
}

// TestV13KeptDoesNotGrowByThePadding checks that what keeps its TTL does not grow where reads
// subtract less than the padding that locks get, since a redlockd with a longer timeout has joined
// (V13, V3, why 91).
func TestV13KeptDoesNotGrowByThePadding(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		c.want(do(c.q, acquire("long", "t", 5*time.Minute)), Won)
		cfg := c.cfg
		c.cfg.Timeout = time.Second
		c.redlockd()
		c.cfg = cfg
		time.Sleep(15 * time.Second)
		c.tell(do(c.q, acquire("k", "t", 5*time.Second)))
		if d := c.keepEvery(500*time.Millisecond, 30*time.Second, other); d > 9*time.Second {
			t.Errorf("a lock of 5s whose TTL was kept lasts %v, %v are left", d, c.masters[0].TTL("k"))
		}
	})
}

// TestV13KeptInTurnDoesNotGrow checks that what keeps its TTL does not grow where two redlockd are
// asked for that in turn: neither takes the copies over from the other one each time (V13, why 92).
func TestV13KeptInTurnDoesNotGrow(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		c.tell(do(c.q, acquire("k", "t", time.Second)))
		if d := c.keepEvery(5*time.Millisecond, 10*time.Second, other, c.q); d > 1500*time.Millisecond {
			t.Errorf("a lock of 1s whose TTL was kept lasts %v, %v are left", d, c.masters[0].TTL("k"))
		}
	})
}

// TestV13ShortenedToTheGreatestTTL checks that a lock which another redlockd has granted for more
// than this one's max_ttl is shortened to max_ttl if a command that reads first asks for that, and
// not by one that keeps the TTL (V13, why 93).
func TestV13ShortenedToTheGreatestTTL(t *testing.T) {
	for _, keeping := range []bool{false, true} {
		inBubble(t, 3, func(c *testCluster) {
			cfg := c.cfg
			c.cfg.MaxTTL = 5 * time.Second
			other := c.redlockd()
			c.cfg = cfg
			time.Sleep(5 * time.Second)
			c.tell(do(c.q, acquire("k", "t", time.Minute)))
			c.tell(do(other, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
				if keeping {
					return keep("k", s)
				}
				return extend("k", s.Token, 5*time.Second) // GETEX k PX 5000
			}}))
			time.Sleep(6 * time.Second)
			if o := do(other, acquire("k", "B", time.Second)); o.Verdict == Held != keeping {
				t.Errorf("keeping %v, after 6 s: %v, %v are left", keeping, o.Verdict, c.masters[0].TTL("k"))
			}
		})
	}
}

package quorum

import (
	"fmt"
	"testing"
	"time"
)

// keep extends a lock by the TTL that it was found to have (SET ... NX GET).
func keep(key string, s State) Op {
	op := extend(key, s.Token, s.TTL.Truncate(time.Millisecond))
	op.Keeps = true
	return op
}

// keeps gives a lock another token and keeps its TTL (SET ... IFEQ ... KEEPTTL).
func keeps(key, from, to string) Op {
	return Op{Kind: Decide, Key: key, Decide: func(s State) Op {
		if s.Token != from {
			return Op{Kind: Read, Key: key}
		}
		return Op{Kind: Extend, Key: key, Token: from, Replace: true, NewToken: to, TTL: s.TTL.Truncate(time.Millisecond), Keeps: true}
	}}
}

// keepsAll does so as a script on several keys.
func keepsAll(key, from, to string) Op {
	return Op{Kind: DecideAll, Keys: []string{key, key + " too"}, DecideAll: func(s []State) []Change {
		if s[0].Token != from {
			return nil
		}
		return []Change{{Key: key, Token: to, TTL: s[0].TTL.Truncate(time.Millisecond), Keeps: true}}
	}}
}

// won confirms a won outcome.
func won(c *testCluster, o *Outcome) {
	c.t.Helper()
	at := c.want(o, Won).Clock()
	if _, err := o.Confirm(at); err != nil {
		c.t.Error(err)
	}
}

// TestV13KeptTTLIsNotLess checks that a lock whose TTL is kept while its token changes
// ends when it would have ended, on the masters and in every answer (V13). The TTL that
// is read is somewhat less than what is left, so otherwise it would end earlier with
// each change by another instance.
func TestV13KeptTTLIsNotLess(t *testing.T) {
	for _, tt := range []struct {
		name   string
		op     func(key, from, to string) Op
		inTurn int // number of redlockd
	}{
		{"one key", keeps, 2}, {"several", keepsAll, 2}, {"one key, at who told it", keeps, 1}, {"several, at who told it", keepsAll, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				const ttl, swaps = 5 * time.Second, 40
				by := []*Quorum{c.q, c.redlockd()}[:tt.inTurn]
				time.Sleep(3 * time.Second)
				won(c, do(c.q, acquire("k", "t0", ttl)))
				won(c, do(c.q, extend("k", "t0", ttl)))
				told := time.Now()
				for i := range swaps {
					won(c, do(by[(i+1)%len(by)], tt.op("k", fmt.Sprint("t", i), fmt.Sprint("t", i+1))))
				}
				for time.Since(told) < ttl-50*time.Millisecond {
					if o := do(by[0], acquire("k", "B", time.Second)); o.Verdict == Won {
						t.Fatalf("another client has the lock %v after the grant", time.Since(told))
					}
					for _, q := range by {
						c.want(do(q, Op{Kind: Read, Key: "k"}), Held)
					}
					time.Sleep(40 * time.Millisecond)
				}
				time.Sleep(2*c.cfg.Timeout + 300*time.Millisecond)
				c.want(do(by[0], acquire("k", "B", time.Second)), Won)
			})
		})
	}
}

// V6: what keeps its TTL is given all the same: the rollback of what has created it, whose
// client heard nothing, spares it. So it does where the token was changed, and changed back.
func TestV6KeptIsNotRolledBack(t *testing.T) {
	for _, name := range []string{"one key", "several", "another token, and back"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				other := c.redlockd()
				time.Sleep(3 * time.Second)
				unheard := c.want(do(c.q, acquire("k", "A", 5*time.Second)), Won)
				again := keepsAll("k", "A", "A")
				switch name {
				case "another token, and back":
					won(c, do(other, keepsAll("k", "A", "N")))
					again = keepsAll("k", "N", "A")
				case "one key":
					again = Op{Kind: Decide, Key: "k", Decide: func(s State) Op { return keep("k", s) }}
				}
				won(c, do(other, again))
				unheard.Undo()
				time.Sleep(time.Second)
				c.want(do(other, acquire("k", "B", time.Second)), Held)
			})
		})
	}
}

// keepEvery keeps the TTL of k again and again, at each instance in turn, for as long as it is
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

// TestV13KeptDoesNotGrowByThePadding checks that what keeps its TTL does not grow where locks get
// more padding since a redlockd with a longer timeout has joined (V13, V3, why 61).
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

// TestV13KeptInTurnDoesNotGrow checks that what keeps its TTL does not grow where two instances are
// asked for that in turn: neither takes the copies over from the other one each time (V13, why 61).
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

// TestV13ShortenedToTheGreatestTTL checks that a lock which another instance has granted for more
// than this one's max_ttl is shortened to max_ttl if a command that reads first asks for that, and
// not by one that keeps the TTL (V13, why 62).
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

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

// won confirms a won outcome and marks it as answered.
func won(c *testCluster, o *Outcome) {
	c.t.Helper()
	at := c.want(o, Won).Clock()
	if err := o.Confirm(at); err != nil {
		c.t.Error(err)
	}
	o.Answered(at)
}

// TestV13KeptTTLIsNotLess checks that a lock whose TTL is kept while its token changes
// ends when it would have ended, on the masters and in every answer (V13). The TTL that
// is read is somewhat less than what is left, so otherwise it would end earlier with
// each change by another redlockd.
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
				won(c, do(c.q, extend("k", "t0", ttl))) // after which the expiry has the residue of a kept one
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

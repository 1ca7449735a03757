package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestV15NotOverByAFastClock checks that a lock that is over by R1's clock, but maybe not yet by
// its client's, is deleted by nothing but a release (V15, why 262): whatever R1 answers, and
// also if that is lost, no other client gets the lock.
func TestV15NotOverByAFastClock(t *testing.T) {
	const ttl = 5 * time.Second
	orExtend, changed := acquire("k", "t", ttl), extend("k", "t", ttl)
	orExtend.Kind = AcquireOrExtend
	changed.NewToken, changed.Replace = "t'", true
	for name, ask := range map[string]Op{
		"extend":            extend("k", "t", ttl),
		"acquire-or-extend": orExtend,
		"change of token":   changed,
		"expire":            {Kind: Expire, Key: "k", TTL: ttl},
		"takes its own again": {Kind: Acquire, Key: "k", Token: "t", TTL: ttl, Decide: func(State) Op {
			return extend("k", "t", ttl)
		}},
		"extends what it reads": {Kind: Decide, Key: "k", Decide: func(s State) Op {
			if s.Lapsed {
				return release("k", "t")
			}
			return extend("k", "t", ttl)
		}},
		"extends several": {Kind: DecideAll, Keys: []string{"k", "l"}, DecideAll: func([]State) []Change {
			return []Change{{Key: "k", Token: "t", TTL: ttl}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 5, func(c *testCluster) {
				other := c.redlockd()
				time.Sleep(3 * second)
				c.tell(do(c.q, acquire("k", "t", ttl)))
				time.Sleep(ttl + time.Millisecond)
				c.want(do(c.q, Op{Kind: Read, Key: "k"}), Absent)
				do(c.q, ask)
				synctest.Wait()
				c.want(do(other, acquire("k", "u", second)), Held)
			})
		})
	}
}

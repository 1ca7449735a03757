package quorum

import (
	"testing"
	"time"
)

// V15: a lock whose token was changed is not over by the grant before the last one, whose
// expiries the masters have kept, while the reply to the last one has not left.
func TestV15ChangedBeforeTheReplyLeft(t *testing.T) {
	const ttl = 95 * time.Millisecond
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", 500*time.Millisecond)))
		c.tell(do(c.q, extend("k", "t", second)))
		time.Sleep(900 * time.Millisecond)
		o := c.want(do(c.q, extend("k", "t", ttl)), Won)
		time.Sleep(c.cfg.Timeout - 10*time.Millisecond)
		// Over another session: its reply leaves first.
		c.tell(do(c.q, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			return Op{Kind: Extend, Key: "k", Token: "t", Replace: true, NewToken: "u", TTL: s.TTL.Truncate(time.Millisecond), Keeps: true}
		}}))
		c.tell(o)
		time.Sleep(ttl - 10*time.Millisecond)
		c.want(do(c.q, extend("k", "u", second)), Won)
	})
}

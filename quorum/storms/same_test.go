package storms

import (
	"github.com/redlockd/redlockd/quorum"
)

// sameKey is a key on which all clients use sameToken: as SET k 1 NX and DEL k.
const (
	sameKey   = "one"
	sameToken = "1"
)

// comesBack takes a lock with the token that all have, keeps it, and frees it before it ends, as
// a release that came later would free the next one's, on one Redis, too. In half of the storms
// all ask one redlockd, as the promise for equal tokens needs (docs/safety.md).
func (c *client) comesBack() {
	op := quorum.Op{Kind: quorum.Acquire, Key: sameKey, Token: sameToken}
	n := c.sameNode()
	op.TTL = c.ttl(n)
	sent := c.Now()
	if !c.call(n, op, op).won() {
		return
	}
	for range c.rng.IntN(3) {
		if !c.sleep(some(c.rng, 0, op.TTL/3)) || c.Now() >= sent+op.TTL/2 {
			break
		}
		n, sent = c.sameNode(), c.Now()
		op.Kind, op.TTL = quorum.Extend, c.ttl(n)
		if !c.call(n, op, op).won() {
			return
		}
	}
	if c.chance(70) && c.sleep(some(c.rng, 0, op.TTL/3)) && c.Now() < sent+op.TTL/2 {
		op.Kind, op.TTL = quorum.Release, 0
		c.call(c.sameNode(), op, op)
	}
}

// oneDoor reports whether all clients with one token ask one redlockd.
func (s *storm) oneDoor() bool { return s.seed%2 == 0 }

func (c *client) sameNode() *node {
	if c.oneDoor() {
		return c.nodes[0]
	}
	return c.node()
}

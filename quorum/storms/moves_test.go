package storms

import (
	"slices"

	"github.com/redlockd/redlockd/quorum"
)

// moves takes one lock, and moves it to the other key in a single step: a transaction that
// frees the one and takes the other (V8). Or it gives the first one another token meanwhile.
func (c *client) moves() {
	op := c.lock()
	if !c.take(&op) {
		return
	}
	n, keys := c.node(), []string{"k", "l"}
	if op.Key == "l" {
		slices.Reverse(keys)
	}
	from := quorum.Op{Kind: quorum.Release, DB: op.DB, Key: keys[0], Token: op.Token}
	to := quorum.Op{Kind: quorum.Acquire, DB: op.DB, Key: keys[1], Token: op.Token, TTL: c.ttl(n)}
	change := quorum.Change{Key: keys[0], Delete: true}
	if c.chance(50) {
		from = quorum.Op{Kind: quorum.Extend, DB: op.DB, Key: keys[0], Token: op.Token, Replace: true, NewToken: op.Token + "b", TTL: to.TTL}
		change = quorum.Change{Key: keys[0], Token: from.NewToken, TTL: to.TTL}
	}
	a := c.callAll(n, []quorum.Op{from, to}, quorum.Op{Kind: quorum.DecideAll, DB: op.DB, Keys: keys, DecideAll: func(st []quorum.State) []quorum.Change {
		if !st[0].Found || st[0].Token != op.Token || st[1].Found || st[1].Lapsed {
			return nil
		}
		return []quorum.Change{change, {Key: keys[1], Token: to.Token, TTL: to.TTL}}
	}})
	if a.won() && c.chance(70) {
		c.free(to)
	}
}

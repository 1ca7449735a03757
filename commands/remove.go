package commands

import (
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// del is DEL and UNLINK, whoever holds the locks.
func del(c call) Request {
	if c.denied() {
		return denied(c.spec.Name)
	}
	if len(c.args) == 2 {
		return c.one(quorum.Op{Kind: quorum.Remove}, oneOrZero)
	}
	// A key named twice counts once, as in Redis.
	seen := make(map[string]bool, len(c.args)-1)
	ops := make([]quorum.Op, 0, len(c.args)-1)
	for i := 1; i < len(c.args); i++ {
		if key := c.arg(i); !seen[key] {
			seen[key] = true
			ops = append(ops, quorum.Op{Kind: quorum.Remove, DB: c.db, Key: key})
		}
	}
	return Request{Ops: ops, Reply: countWon}
}

// getdel is GETDEL: it deletes the lock only if it still has the token in the reply.
func getdel(c call) Request {
	if c.denied() {
		return denied(c.spec.Name)
	}
	return c.decide(c.arg(1), func(s quorum.State) decision {
		if !s.Found {
			return doNothing(resp.Null)
		}
		return decision{op: quorum.Op{Kind: quorum.Release, Token: s.Token}, reply: resp.Bulk(s.Token)}
	}).with(MayRemove)
}

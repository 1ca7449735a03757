package commands

import (
	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// del is DEL and UNLINK, whoever holds the locks.
func del(c call) Request {
	if req, all := delLatches(c); all {
		return req
	}
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

// delLatches is DEL of latches, which are on no master; all reports whether it names no other key.
func delLatches(c call) (req Request, all bool) {
	gone := int64(0)
	for i := 1; i < len(c.args); i++ {
		if !script.IsLatch(c.arg(i)) {
			return req, false
		}
	}
	for i := 1; i < len(c.args); i++ {
		if c.in.scripts.Forget(c.db, c.arg(i)) {
			gone++
		}
	}
	return answer(resp.Int(gone)), true
}

// getdel is GETDEL: it deletes the lock only if it still has the token in the reply.
func getdel(c call) Request {
	if c.denied() {
		return denied(c.spec.Name)
	}
	return c.decide(c.arg(1), func(s quorum.State) decision {
		if wrong, is := notString(s); is {
			return wrong
		}
		if !s.Found {
			return doNothing(resp.Null)
		}
		return decision{op: quorum.Op{Kind: quorum.Release, Token: s.Token}, reply: resp.Bulk(s.Token)}
	}).with(MayRemove)
}

package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

var (
	tokenOrNull  = stringOr(resp.Bulk, resp.Null).one()
	tokensOrNull = foundOr(stringOrNull, resp.Null).each()
	countFound   = foundOr(func(string) resp.Reply { return resp.Int(1) }, resp.Int(0)).sum()
	lengthFound  = stringOr(func(token string) resp.Reply { return resp.Int(int64(len(token))) }, resp.Int(0)).one()
	digestFound  = stringOr(func(token string) resp.Reply { return resp.Bulk(grammar.Digest(token)) }, resp.Null).one()
	typeFound    = foundOr(func(token string) resp.Reply { return resp.Status(values.TypeOf(token)) }, resp.Status("none")).one()
	millisLeft   = leftReply(func(ms int64) int64 { return ms })
	secondsLeft  = leftReply(seconds)
)

// stringOrNull is what MGET answers of a key.
func stringOrNull(token string) resp.Reply {
	if values.Hidden(token) {
		return resp.Null
	}
	return resp.Bulk(token)
}

// leftReply returns a reply made from the remaining milliseconds. There are no locks
// without a TTL, so it is never -1.
func leftReply(tell func(ms int64) int64) func([]*quorum.Outcome) resp.Reply {
	return shape(func(o *quorum.Outcome) resp.Reply {
		if o.Verdict != quorum.Held {
			return resp.Int(-2)
		}
		return resp.Int(tell(o.State.TTL.Milliseconds()))
	}).one()
}

func get(c call) Request        { return c.one(quorum.Op{}, tokenOrNull) }
func strlen(c call) Request     { return c.one(quorum.Op{}, lengthFound) }
func digest(c call) Request     { return c.one(quorum.Op{}, digestFound) }
func typ(c call) Request        { return c.one(quorum.Op{}, typeFound) }
func pttl(c call) Request       { return c.one(quorum.Op{}, millisLeft) }
func ttlSeconds(c call) Request { return c.one(quorum.Op{}, secondsLeft) }

func pexpiretime(c call) Request {
	return c.one(quorum.Op{}, leftReply(func(ms int64) int64 { return c.in.now() + ms }))
}

func expiretime(c call) Request {
	return c.one(quorum.Op{}, leftReply(func(ms int64) int64 { return seconds(c.in.now() + ms) }))
}

func mget(c call) Request { return readAll(c, tokensOrNull) }

// exists is EXISTS and TOUCH: a key named twice counts twice, as in Redis.
func exists(c call) Request { return readAll(c, countFound) }

// readAll reads every key of the command.
func readAll(c call, reply func([]*quorum.Outcome) resp.Reply) Request {
	ops := make([]quorum.Op, len(c.args)-1)
	for i := range ops {
		ops[i] = quorum.Op{Kind: quorum.Read, DB: c.db, Key: c.arg(i + 1)}
	}
	return Request{Ops: ops, Reply: reply}
}

// How the replies change where there is a signal list of the key's name (Spec.list).

func countList(r *resp.Reply, _ time.Duration) { r.Int++ }

func secondsOfList(r *resp.Reply, left time.Duration) {
	if r.Int == -2 {
		r.Int = seconds(left.Milliseconds())
	}
}

func millisOfList(r *resp.Reply, left time.Duration) {
	if r.Int == -2 {
		r.Int = left.Milliseconds()
	}
}

func typeOfList(r *resp.Reply, _ time.Duration) {
	if r.Text == "none" {
		r.Text = "list"
	}
}

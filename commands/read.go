package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/quorum"
)

var (
	tokenOrNull  = foundOr(Bulk, Null).one()
	tokensOrNull = foundOr(Bulk, Null).each()
	countFound   = foundOr(func(string) Reply { return Int(1) }, Int(0)).sum()
	lengthFound  = foundOr(func(token string) Reply { return Int(int64(len(token))) }, Int(0)).one()
	digestFound  = foundOr(func(token string) Reply { return Bulk(grammar.Digest(token)) }, Null).one()
	typeFound    = foundOr(func(string) Reply { return status("string") }, status("none")).one()
	millisLeft   = leftReply(func(ms int64) int64 { return ms })
	secondsLeft  = leftReply(seconds)
)

// leftReply is the reply that tells something of the remaining milliseconds; there
// are no locks without a TTL, so -1 is never told.
func leftReply(tell func(ms int64) int64) func([]*quorum.Outcome) Reply {
	return shape(func(o *quorum.Outcome) Reply {
		if o.Verdict != quorum.Held {
			return Int(-2)
		}
		return Int(tell(o.State.TTL.Milliseconds()))
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
func readAll(c call, reply func([]*quorum.Outcome) Reply) Request {
	ops := make([]quorum.Op, len(c.args)-1)
	for i := range ops {
		ops[i] = quorum.Op{Kind: quorum.Read, DB: c.db, Key: c.arg(i + 1)}
	}
	return Request{Ops: ops, Reply: reply}
}

// What the replies become where there is a signal list of that name
// (Spec.list).

func countList(r *Reply, _ time.Duration) { r.Int++ }

func secondsOfList(r *Reply, left time.Duration) {
	if r.Int == -2 {
		r.Int = seconds(left.Milliseconds())
	}
}

func millisOfList(r *Reply, left time.Duration) {
	if r.Int == -2 {
		r.Int = left.Milliseconds()
	}
}

func typeOfList(r *Reply, _ time.Duration) {
	if r.Text == "none" {
		r.Text = "list"
	}
}

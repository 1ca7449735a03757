package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

func expire(c call) Request    { return expireBy(c, grammar.EX) }
func pexpire(c call) Request   { return expireBy(c, grammar.PX) }
func expireat(c call) Request  { return expireBy(c, grammar.EXAT) }
func pexpireat(c call) Request { return expireBy(c, grammar.PXAT) }

// expireBy is EXPIRE, PEXPIRE, EXPIREAT and PEXPIREAT, whoever holds the lock. A relative
// expiry of 0 or less deletes it, as in Redis.
func expireBy(c call, u grammar.Unit) Request {
	flags, refused := parseExpireFlags(c.args[3:])
	if refused != "" {
		return refuse(refused)
	}
	n, ok := resp.ParseInt(c.args[2])
	if !ok {
		return refuse(errNotInteger)
	}
	if c.denied() {
		return denied(c.spec.Name)
	}
	ms, refused := c.fromNow(u, n)
	if refused != "" {
		return refuse(refused)
	}
	if ms <= 0 {
		return expireNow(c, flags)
	}
	ttl, refused := c.in.bounded(c.spec.Name, ms)
	switch {
	case refused != "":
		return refuse(refused)
	case flags.NX:
		return answer(resp.Int(0))
	case flags.GT || flags.LT:
		return expireIf(c, flags, ttl)
	}
	return c.one(quorum.Op{Kind: quorum.Expire, TTL: ttl}, oneOrZero)
}

// expireNow is EXPIRE with an expiry of 0 or less, which is below any lock's.
func expireNow(c call, flags grammar.ExpireFlags) Request {
	if flags.NX || flags.GT {
		return answer(resp.Int(0))
	}
	return c.one(quorum.Op{Kind: quorum.Remove}, oneOrZero)
}

// expireIf is EXPIRE with GT or LT.
func expireIf(c call, flags grammar.ExpireFlags, ttl time.Duration) Request {
	return c.decide(c.arg(1), func(s quorum.State) decision {
		if !s.Found || (flags.GT && ttl <= s.TTL) || (flags.LT && ttl >= s.TTL) {
			return doNothing(resp.Int(0))
		}
		return decision{op: quorum.Op{Kind: quorum.Extend, Token: s.Token, TTL: ttl}, reply: resp.Int(1)}
	}).with(MayRemove)
}

// parseExpireFlags parses the flags behind the time. XX always holds for a lock and NX
// never does, since every lock has a TTL.
func parseExpireFlags(args [][]byte) (grammar.ExpireFlags, string) {
	flags, unsupported, refused := grammar.ParseExpireFlags(args, asItIs)
	if unsupported >= 0 {
		refused = unsupportedOption(args[unsupported])
	}
	return flags, refused
}

// persist is PERSIST. A lock without a TTL is forbidden (V13), so no_expiry applies.
func persist(c call) Request {
	if c.denied() {
		return denied(c.spec.Name)
	}
	ttl, refused := c.in.noExpiry()
	if refused != "" {
		return refuse(refused)
	}
	return c.one(quorum.Op{Kind: quorum.Expire, TTL: ttl}, oneOrZero)
}

// getex is GETEX: GET, and with an expiry PEXPIRE, whoever holds the lock. The expiry
// changes only if the token in the reply is still there.
func getex(c call) Request {
	if len(c.args) == 2 {
		return get(c)
	}
	choose, refused := getexChange(c)
	if refused != "" {
		return refuse(refused)
	}
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
		op := choose
		op.Token = s.Token
		return decision{op: op, reply: resp.Bulk(s.Token)}
	}).with(MayRead | MayRemove)
}

// getexConditional is Spec.conditional of GETEX: without an expiry it is a GET.
func getexConditional(c call) bool { return len(c.args) == 2 }

// getexChange returns the operation of a GETEX with an expiry, without its token, or the
// error text.
func getexChange(c call) (quorum.Op, string) {
	op, refused := quorum.Op{Kind: quorum.Extend}, ""
	u := grammar.UnitOf(c.args[2])
	switch {
	case len(c.args) == 3 && grammar.Is(c.args[2], "persist"):
		op.TTL, refused = c.in.noExpiry()
		return op, refused
	case len(c.args) != 4 || u == grammar.NoUnit:
		return op, errSyntax
	}
	op.TTL, refused = c.ttl(u, c.args[3])
	return op, refused
}

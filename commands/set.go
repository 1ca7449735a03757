package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// setOptions are the options behind key and value of a SET.
type setOptions = grammar.SetOptions[[]byte]

// parseSet parses the options; false is a syntax error.
func parseSet(args [][]byte) (setOptions, bool) { return grammar.ParseSet(args, asItIs) }

// asItIs returns a word that a client has sent.
func asItIs(word []byte) []byte { return word }

// set is SET with all its options. NX is an acquire, IFEQ and IFDEQ are an
// extend, anything else is an unconditional store: IFNE and IFDNE overwrite
// whoever else has the lock.
func set(c call) Request {
	o, ok := parseSet(c.args[3:])
	if !ok {
		return refuse(errSyntax)
	}
	if !o.ByToken() && c.denied() {
		return denied(c.spec.Name)
	}
	if o.Expiry == grammar.KeepTTL && !o.NX {
		return setByState(c, o, 0)
	}
	ttl, refused := setTTL(c, o)
	if refused != "" {
		return refuse(refused)
	}
	token := c.arg(2)
	switch {
	case o.NX && o.Get:
		return setAndGet(c, token, ttl)
	case o.NX:
		return c.one(quorum.Op{Kind: quorum.Acquire, Token: token, TTL: ttl}, okOrNull)
	case !o.Get && o.Condition == grammar.IfEqual:
		return setIfEqual(c, string(o.Compare), token, ttl)
	case o.Get || o.Condition != grammar.NoCondition:
		return setByState(c, o, ttl)
	}
	return c.one(quorum.Op{Kind: quorum.Store, Token: token, TTL: ttl, IfPresent: o.XX}, okOrNull)
}

// setConditional is Spec.conditional of SET.
func setConditional(c call) bool {
	o, ok := parseSet(c.args[3:])
	return !ok || o.ByToken()
}

// setAndGet is SET NX GET: an acquire whose reply is the token that was there before. The
// client's own token there tells it that it has the lock already. That is a promise, and the
// copies may be those of an attempt whose rollback is under way (V6), so the lock is extended
// by the TTL that it has; what is over is taken again.
func setAndGet(c call, token string, ttl time.Duration) Request {
	own := c.decide(c.arg(1), func(s quorum.State) decision {
		if wrong, is := notString(s); is {
			return wrong
		}
		switch {
		case !s.Found:
			return decision{op: quorum.Op{Kind: quorum.Acquire, Token: token, TTL: ttl}, reply: resp.Null}
		case s.Token != token:
			return doNothing(resp.Bulk(s.Token))
		case s.Lapsed:
			return decision{op: replace(s, quorum.Op{Token: token, TTL: ttl}), reply: resp.Null}
		}
		return decision{op: replace(s, quorum.Op{Token: token, TTL: wholeMillis(s.TTL), Keeps: true}), reply: resp.Bulk(token)}
	})
	op := quorum.Op{Kind: quorum.Acquire, Token: token, TTL: ttl, Decide: own.Ops[0].Decide}
	return c.one(op, shape(func(o *quorum.Outcome) resp.Reply {
		switch {
		case o.Verdict == quorum.Won && o.Done != quorum.Extend:
			return resp.Null
		case o.Verdict == quorum.Held && (o.State.Token == token || !o.State.Found):
			return Failed(quorum.ErrLockChanged) // what is there now is not known
		case o.Verdict == quorum.Held:
			return stringOr(resp.Bulk, resp.Null)(o)
		}
		return own.Reply([]*quorum.Outcome{o}) // it has met its own token
	}).one()).with(MayRead)
}

func setTTL(c call, o setOptions) (time.Duration, string) {
	if o.Expiry == grammar.NoUnit || o.Expiry == grammar.KeepTTL {
		return c.in.noExpiry()
	}
	return c.ttl(o.Expiry, o.Number)
}

// setnx is SETNX: an acquire without a TTL (C2).
func setnx(c call) Request {
	ttl, refused := c.in.noExpiry()
	if refused != "" {
		return refuse(refused)
	}
	return c.one(quorum.Op{Kind: quorum.Acquire, Token: c.arg(2), TTL: ttl}, oneOrZero)
}

func setex(c call) Request  { return storeFor(c, grammar.EX) }
func psetex(c call) Request { return storeFor(c, grammar.PX) }

// storeFor is SETEX and PSETEX.
func storeFor(c call, u grammar.Unit) Request {
	if c.denied() {
		return denied(c.spec.Name)
	}
	ttl, refused := c.ttl(u, c.args[2])
	if refused != "" {
		return refuse(refused)
	}
	return c.one(quorum.Op{Kind: quorum.Store, Token: c.arg(3), TTL: ttl}, okOrNull)
}

// getset is GETSET: SET with GET and without a TTL.
func getset(c call) Request {
	if c.denied() {
		return denied(c.spec.Name)
	}
	ttl, refused := c.in.noExpiry()
	if refused != "" {
		return refuse(refused)
	}
	return setByState(c, setOptions{Get: true}, ttl)
}

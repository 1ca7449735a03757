package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/quorum"
)

// setOptions is what follows key and value of a SET.
type setOptions struct {
	nx, xx, get bool
	// cond is IFEQ (of Valkey 8.1 as well) and its kin of Redis 8.4, compare its
	// operand.
	cond    script.Condition
	compare []byte
	// expiry is how the TTL was given, number its operand.
	expiry unit
	number []byte
}

// set is SET with all its options. NX is an acquire, IFEQ and IFDEQ are an
// extend, anything else is an unconditional store: IFNE and IFDNE overwrite
// whoever else has the lock.
func set(c call) Request {
	o, ok := parseSet(c.args[3:])
	if !ok {
		return refuse(errSyntax)
	}
	if !o.byToken() && c.denied() {
		return denied(c.spec.Name)
	}
	if o.expiry == keepTTL && !o.nx {
		return c.setByState(o, 0)
	}
	ttl, refused := c.setTTL(o)
	if refused != "" {
		return refuse(refused)
	}
	token := c.arg(2)
	switch {
	case o.nx && o.get:
		return c.one(quorum.Op{Kind: quorum.Acquire, Token: token, TTL: ttl}, nullOrHolder).with(MayRead)
	case o.nx:
		return c.one(quorum.Op{Kind: quorum.Acquire, Token: token, TTL: ttl}, okOrNull)
	case !o.get && o.cond == script.IfEqual:
		return c.setIfEqual(string(o.compare), token, ttl)
	case o.get || o.cond != script.NoCondition:
		return c.setByState(o, ttl)
	}
	return c.one(quorum.Op{Kind: quorum.Store, Token: token, TTL: ttl, IfPresent: o.xx}, okOrNull)
}

// setConditional is for Spec.conditional.
func setConditional(c call) bool {
	o, ok := parseSet(c.args[3:])
	return !ok || o.byToken()
}

// byToken reports whether a lock that is there is spared, or named by its
// token.
func (o *setOptions) byToken() bool { return o.nx || o.cond.Names() }

// nullOrHolder is the reply of SET NX GET: what was there before.
var nullOrHolder = shape(func(o *quorum.Outcome) Reply {
	if o.Verdict == quorum.Won {
		return Null
	}
	return Bulk(o.State.Token)
}).one()

func (c call) setTTL(o setOptions) (time.Duration, string) {
	if o.expiry == noUnit || o.expiry == keepTTL {
		return c.in.noExpiry()
	}
	return c.ttl(o.expiry, o.number)
}

// parseSet reads the options in any order; false is a syntax error. As in
// Redis the same option may be said twice, and then the last one counts.
func parseSet(args [][]byte) (o setOptions, ok bool) {
	for i := 0; i < len(args); i++ {
		last := i+1 == len(args)
		switch word := args[i]; {
		case is(word, "nx") && !o.xx && o.cond == script.NoCondition:
			o.nx = true
		case is(word, "xx") && !o.nx && (o.cond == script.NoCondition || o.cond == script.IfEqual):
			o.xx = true
		case is(word, "get"):
			o.get = true
		case is(word, "keepttl") && (o.expiry == noUnit || o.expiry == keepTTL):
			o.expiry = keepTTL
		case isCondition(word) && !o.nx && o.cond == script.NoCondition && !last:
			i++
			o.cond, o.compare = script.ConditionOf(string(word)), args[i]
			if o.xx && o.cond != script.IfEqual {
				return o, false
			}
		default:
			u := expiryUnit(word)
			if u == noUnit || last || (o.expiry != noUnit && o.expiry != u) {
				return o, false
			}
			i++
			o.expiry, o.number = u, args[i]
		}
	}
	return o, true
}

func isCondition(word []byte) bool {
	return is(word, "ifeq") || is(word, "ifne") || is(word, "ifdeq") || is(word, "ifdne")
}

func expiryUnit(word []byte) unit {
	switch {
	case is(word, "px"):
		return inPX
	case is(word, "ex"):
		return inEX
	case is(word, "pxat"):
		return inPXAT
	case is(word, "exat"):
		return inEXAT
	}
	return noUnit
}

// setnx is SETNX: an acquire without a TTL (C2).
func setnx(c call) Request {
	ttl, refused := c.in.noExpiry()
	if refused != "" {
		return refuse(refused)
	}
	return c.one(quorum.Op{Kind: quorum.Acquire, Token: c.arg(2), TTL: ttl}, oneOrZero)
}

func setex(c call) Request  { return c.store(inEX) }
func psetex(c call) Request { return c.store(inPX) }

// store is SETEX and PSETEX.
func (c call) store(u unit) Request {
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
	return c.setByState(setOptions{get: true}, ttl)
}

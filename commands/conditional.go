package commands

import (
	"bytes"
	"time"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/quorum"
)

// setIfEqual is SET IFEQ: an extend, which may put another token in place.
func (c call) setIfEqual(compare, token string, ttl time.Duration) Request {
	op := quorum.Op{Kind: quorum.Extend, Token: compare, TTL: ttl}
	if token != compare {
		op.Replace, op.NewToken = true, token
	}
	return c.one(op, okOrNull)
}

// setByState is a SET whose reply or TTL depends on what is there: GET,
// KEEPTTL, and the conditions but IFEQ. A TTL of 0 keeps what is left, cut to
// whole milliseconds.
func (c call) setByState(o setOptions, ttl time.Duration) Request {
	token := c.arg(2)
	o.compare = bytes.Clone(o.compare) // what was read from the client is overwritten meanwhile
	needs := MayRemove
	if o.byToken() {
		needs = MayExtend
	}
	if o.get {
		needs |= MayRead
	}
	return c.decide(c.arg(1), func(s quorum.State) decision {
		done, not := OK, Null
		if o.get {
			done = Null
			if s.Found {
				done = Bulk(s.Token)
			}
			not = done
		}
		met, refused := o.met(s)
		switch {
		case refused != "":
			return leave(Error(refused))
		case !met:
			return leave(not)
		}
		left := ttl
		switch {
		case ttl == 0 && s.Found:
			left = wholeMillis(s.TTL)
		case ttl == 0:
			left, refused = c.in.noExpiry()
		}
		if refused != "" {
			return leave(Error(refused))
		}
		return decision{op: replace(s, quorum.Op{Token: token, TTL: left}), reply: done}
	}).with(needs)
}

// met reports whether the state meets XX and the condition.
func (o *setOptions) met(s quorum.State) (bool, string) {
	if !s.Found {
		return !o.xx && o.cond.Absent(), ""
	}
	return o.cond.Meets(s.Token, string(o.compare))
}

// delex is DELEX of Redis 8.4: a release with IFEQ and IFDEQ, alone and with
// IFNE and IFDNE a DEL.
func delex(c call) Request {
	cond := script.NoCondition
	switch {
	case len(c.args) == 2:
	case len(c.args) != 4:
		return refuse(wrongArity(c.spec.Name))
	default:
		if cond = script.ConditionOf(c.arg(2)); cond == script.NoCondition {
			return refuse(script.InvalidCondition)
		}
	}
	switch {
	case !cond.Names() && c.denied():
		return denied(c.spec.Name)
	case cond == script.NoCondition:
		return c.one(quorum.Op{Kind: quorum.Remove}, oneOrZero)
	case cond == script.IfEqual:
		return c.one(quorum.Op{Kind: quorum.Release, Token: c.arg(3)}, oneOrZero)
	}
	return c.delexByState(cond, c.arg(3))
}

// delexConditional is for Spec.conditional.
func delexConditional(c call) bool { return len(c.args) > 2 && script.ConditionOf(c.arg(2)).Names() }

// delexByState is DELEX with a condition that needs a look at the lock.
func (c call) delexByState(cond script.Condition, operand string) Request {
	needs := MayRemove
	if cond.Names() {
		needs = MayRelease
	}
	return c.decide(c.arg(1), func(s quorum.State) decision {
		if !s.Found {
			return leave(Int(0))
		}
		met, refused := cond.Meets(s.Token, operand)
		switch {
		case refused != "":
			return leave(Error(refused))
		case !met:
			return leave(Int(0))
		}
		return decision{op: quorum.Op{Kind: quorum.Release, Token: s.Token}, reply: Int(1)}
	}).with(needs)
}

// delifeq is DELIFEQ of Valkey 9.
func delifeq(c call) Request {
	return c.one(quorum.Op{Kind: quorum.Release, Token: c.arg(2)}, oneOrZero)
}

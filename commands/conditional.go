package commands

import (
	"bytes"
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// setIfEqual is SET IFEQ: an extend, which may store another token.
func setIfEqual(c call, compare, token string, ttl time.Duration) Request {
	op := quorum.Op{Kind: quorum.Extend, Token: compare, TTL: ttl}
	if token != compare {
		op.Replace, op.NewToken = true, token
	}
	return c.one(op, okIfEqual)
}

// setByState is a SET whose reply or TTL depends on the state found: GET, KEEPTTL, and
// the conditions except IFEQ. With a TTL of 0 the lock keeps the TTL that is left, cut to
// whole milliseconds.
func setByState(c call, o setOptions, ttl time.Duration) Request {
	token := c.arg(2)
	o.Compare = bytes.Clone(o.Compare) // the read buffer is used again before choose runs
	needs := MayRemove
	if o.ByToken() {
		needs = MayExtend
	}
	if o.Get {
		needs |= MayRead
	}
	return c.decide(c.arg(1), func(s quorum.State) decision {
		if wrong, is := notString(s); is && (o.Get || o.Condition != grammar.NoCondition) {
			return wrong
		}
		done, not := resp.OK, resp.Null
		if o.Get {
			done = resp.Null
			if s.Found {
				done = resp.Bulk(s.Token)
			}
			not = done
		}
		met, refused := meets(&o, s)
		switch {
		case refused != "":
			return doNothing(resp.Error(refused))
		case !met:
			return doNothing(not)
		}
		left, keeps := ttl, ttl == 0 && s.Found
		switch {
		case keeps:
			left = wholeMillis(s.TTL)
		case ttl == 0:
			left, refused = c.in.noExpiry()
		}
		if refused != "" {
			return doNothing(resp.Error(refused))
		}
		return decision{op: replace(s, quorum.Op{Token: token, TTL: left, Keeps: keeps}), reply: done}
	}).with(needs)
}

// meets reports whether the state meets XX and the condition.
func meets(o *setOptions, s quorum.State) (bool, string) {
	if !s.Found {
		return !o.XX && o.Condition.Absent(), ""
	}
	return o.Condition.Meets(s.Token, string(o.Compare))
}

// delex is DELEX of Redis 8.4: a release with IFEQ and IFDEQ, a DEL without condition and
// with IFNE and IFDNE.
func delex(c call) Request {
	cond := grammar.NoCondition
	switch {
	case len(c.args) == 2:
	case len(c.args) != 4:
		return refuse(wrongArity(c.spec.Name))
	default:
		if cond = grammar.ConditionOf(c.arg(2)); cond == grammar.NoCondition {
			return refuse(grammar.InvalidCondition)
		}
	}
	switch {
	case !cond.Names() && c.denied():
		return denied(c.spec.Name)
	case cond == grammar.NoCondition:
		return c.one(quorum.Op{Kind: quorum.Remove}, oneOrZero)
	case cond == grammar.IfEqual:
		return c.one(quorum.Op{Kind: quorum.Release, Token: c.arg(3)}, oneIfSame)
	}
	return delexByState(c, cond, c.arg(3))
}

// delexConditional is Spec.conditional of DELEX.
func delexConditional(c call) bool { return len(c.args) > 2 && grammar.ConditionOf(c.arg(2)).Names() }

// delexByState is DELEX with a condition for which the lock must be read first.
func delexByState(c call, cond grammar.Condition, operand string) Request {
	needs := MayRemove
	if cond.Names() {
		needs = MayRelease
	}
	return c.decide(c.arg(1), func(s quorum.State) decision {
		if wrong, is := notString(s); is {
			return wrong
		}
		if !s.Found {
			return doNothing(resp.Int(0))
		}
		met, refused := cond.Meets(s.Token, operand)
		switch {
		case refused != "":
			return doNothing(resp.Error(refused))
		case !met:
			return doNothing(resp.Int(0))
		}
		return decision{op: quorum.Op{Kind: quorum.Release, Token: s.Token}, reply: resp.Int(1)}
	}).with(needs)
}

// delifeq is DELIFEQ of Valkey 9.
func delifeq(c call) Request {
	return c.one(quorum.Op{Kind: quorum.Release, Token: c.arg(2)}, oneIfSame)
}

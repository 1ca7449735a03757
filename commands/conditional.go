package commands

import (
	"time"

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

// setByState is a SET whose reply or TTL depends on what is there: GET and
// KEEPTTL. A TTL of 0 keeps what is left, cut to whole milliseconds.
func (c call) setByState(o setOptions, ttl time.Duration) Request {
	token, compare := c.arg(2), string(o.compare)
	needs := MayRemove
	if o.ifeq {
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
		if (o.xx && !s.Found) || (o.ifeq && (!s.Found || s.Token != compare)) {
			return leave(not)
		}
		left, refused := ttl, ""
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

// delex is DELEX of Redis 8.4: a release with IFEQ, an unconditional DEL
// alone. Its other conditions are no lock operations.
func delex(c call) Request {
	switch {
	case len(c.args) == 2 && c.denied():
		return denied(c.spec.Name)
	case len(c.args) == 2:
		return c.one(quorum.Op{Kind: quorum.Remove}, oneOrZero)
	case len(c.args) != 4:
		return refuse(wrongArity(c.spec.Name))
	case !is(c.args[2], "ifeq"):
		return refuse(errDelexOther)
	}
	return c.one(quorum.Op{Kind: quorum.Release, Token: c.arg(3)}, oneOrZero)
}

// delifeq is DELIFEQ of Valkey 9.
func delifeq(c call) Request {
	return c.one(quorum.Op{Kind: quorum.Release, Token: c.arg(2)}, oneOrZero)
}

package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/quorum"
)

// perCall carries out a script whose meaning was not proved for all calls: it
// runs on what a quorum agrees on, and what it did there becomes one
// compare-and-set (C7).
func (c call) perCall(m *script.Meaning) Request {
	return c.decide(m.Key, func(s quorum.State) decision {
		effect, value, err := m.Run(script.State{Found: s.Found, Value: s.Token, TTL: s.TTL})
		if err != nil {
			return leave(Error(scriptError(err)))
		}
		op, refused := c.in.carryOut(effect, s)
		switch {
		case refused != "":
			return leave(Error(refused))
		case op.Kind != quorum.Read && c.readOnly():
			return leave(Error(errReadOnly))
		}
		return decision{op: op, reply: fill(value, s)}
	})
}

// carryOut is the operation that does to the lock what a script did to the
// model of it; Kind Read is nothing.
func (in *Interpreter) carryOut(e script.Effect, s quorum.State) (quorum.Op, string) {
	switch {
	case e.Kind == script.Delete && s.Found:
		return quorum.Op{Kind: quorum.Release, Token: s.Token}, ""
	case e.Kind == script.Set:
		ttl, refused := in.resultingTTL(e.TTL)
		return replace(s, quorum.Op{Token: e.Value, TTL: ttl}), refused
	case e.Kind == script.SetTTL && s.Found:
		ttl, refused := in.resultingTTL(e.TTL)
		return quorum.Op{Kind: quorum.Extend, Token: s.Token, TTL: ttl}, refused
	}
	return quorum.Op{}, ""
}

// resultingTTL is scriptTTL for a TTL that was worked out from the state, as
// in an additive extend: above max_ttl it follows no_expiry (V13).
func (in *Interpreter) resultingTTL(d time.Duration) (time.Duration, string) {
	if d > in.cfg.MaxTTL && in.cfg.NoExpiry == MaxTTLInstead {
		return in.cfg.MaxTTL, ""
	}
	return in.scriptTTL(d)
}

// fill makes the reply out of a script's shape of one.
func fill(v script.Value, s quorum.State) Reply {
	switch v.Kind {
	case script.Int:
		return Int(v.Int)
	case script.Bulk:
		return Bulk(v.Text)
	case script.Status:
		return status(oneLine(v.Text))
	case script.Error:
		return Error(oneLine(v.Text))
	case script.Array:
		items := make([]Reply, len(v.Items))
		for i, item := range v.Items {
			items[i] = fill(item, s)
		}
		return Array(items...)
	case script.StoredValue, script.StoredPTTL, script.StoredTTL:
		return fillStored(v.Kind, s)
	}
	return Null
}

func fillStored(kind script.ValueKind, s quorum.State) Reply {
	switch {
	case kind == script.StoredValue && !s.Found:
		return Null
	case kind == script.StoredValue:
		return Bulk(s.Token)
	case !s.Found:
		return Int(-2)
	case kind == script.StoredTTL:
		return Int(seconds(s.TTL.Milliseconds()))
	}
	return Int(s.TTL.Milliseconds())
}

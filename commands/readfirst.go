package commands

import (
	"time"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// decision is what follows from the state of a lock: one operation that is
// carried out only while the state is still so, and what is answered then.
// With an op of Kind Read nothing is to do and the reply is the answer.
type decision struct {
	op      quorum.Op
	reply   resp.Reply
	notices []Notice
}

// leave is the decision to do nothing.
func leave(r resp.Reply) decision { return decision{reply: r} }

// replace is the operation that gives a lock found or absent this token and
// TTL, and does nothing if the state is no longer s.
func replace(s quorum.State, op quorum.Op) quorum.Op {
	if !s.Found {
		return quorum.Op{Kind: quorum.Acquire, Token: op.Token, TTL: op.TTL}
	}
	return quorum.Op{
		Kind: quorum.Extend, Token: s.Token, TTL: op.TTL,
		NewToken: op.Token, Replace: op.Token != s.Token,
	}
}

// decide is a request that looks at the lock first. choose may be called more
// than once, by whatever goroutine, but only before the reply is filled; its
// last decision counts.
func (c call) decide(key string, choose func(quorum.State) decision) Request {
	var last decision
	op := quorum.Op{Kind: quorum.Decide, DB: c.db, Key: key}
	op.Decide = func(s quorum.State) quorum.Op {
		last = choose(s)
		if s.Lapsed {
			last = last.onLapsed(s, choose(lapsing(s)))
		}
		last.op.DB, last.op.Key = c.db, key
		return last.op
	}
	reply := shape(func(o *quorum.Outcome) resp.Reply {
		if carriedOut(o) {
			return last.reply
		}
		return moved(c.in.cfg.MaxTTL, o, choose)
	})
	notices := func(outs []*quorum.Outcome) []Notice {
		if !carriedOut(outs[0]) {
			return nil
		}
		return last.notices
	}
	return Request{Ops: []quorum.Op{op}, Reply: reply.one(), Notices: notices}
}

// onLapsed is the decision on a lock that is used up and not yet free (V3), by what
// would be decided if it were held: nobody takes it yet, and whoever would free or
// prolong it is told that there is none, and deletes what is left of it.
func (d decision) onLapsed(s quorum.State, held decision) decision {
	switch {
	case d.op.Kind == quorum.Acquire:
		return held
	case d.op.Kind == quorum.Read && (held.op.Kind == quorum.Release || held.op.Kind == quorum.Extend):
		d.op = quorum.Op{Kind: quorum.Release, Token: s.Token}
	}
	return d
}

// carriedOut reports whether the last decision is what has become of the lock.
func carriedOut(o *quorum.Outcome) bool {
	return o.Err == nil && o.Verdict != quorum.Changed && (o.Done == quorum.Read || o.Verdict == quorum.Won)
}

// lapsing is a lock that is used up and not yet free (V3), for a decision that
// would take it: it is held, for a moment.
func lapsing(s quorum.State) quorum.State {
	return quorum.State{Found: true, Token: s.Token, TTL: time.Millisecond}
}

// moved is the reply where the decision met another state than the one it was
// made for. What the operation met is known but for the TTL: if there is
// nothing to do in that state, whatever its TTL, the answer made for it is
// true (with the least TTL, so that who waits for it comes back too early and
// not too late). Otherwise nobody can tell (P4).
func moved(maxTTL time.Duration, o *quorum.Outcome, choose func(quorum.State) decision) resp.Reply {
	met := quorum.State{}
	if o.Verdict == quorum.Held {
		if o.State.Token == "" {
			return Failed(quorum.ErrLockChanged) // it is not known which
		}
		met = quorum.State{Found: true, Token: o.State.Token, TTL: maxTTL}
	}
	if met.Found && choose(met).op.Kind != quorum.Read {
		return Failed(quorum.ErrLockChanged)
	}
	met.TTL = min(met.TTL, time.Millisecond)
	d := choose(met)
	if d.op.Kind != quorum.Read {
		return Failed(quorum.ErrLockChanged)
	}
	return d.reply
}

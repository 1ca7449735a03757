package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// decision is what a command does given the state of a lock: one operation, which is
// carried out only if the lock is still in that state, and the reply then. If op.Kind is
// Read there is nothing to do, and the reply is the answer.
type decision struct {
	op      quorum.Op
	reply   resp.Reply
	notices []Notice
	latches []script.Latch
	// readsLeft is as in plan.
	readsLeft bool
}

// doNothing is the decision to change nothing and answer r.
func doNothing(r resp.Reply) decision { return decision{reply: r} }

// replace returns the operation that gives a lock in state s this token and TTL, and does
// nothing if the lock is no longer in that state.
func replace(s quorum.State, op quorum.Op) quorum.Op {
	if !s.Found {
		return quorum.Op{Kind: quorum.Acquire, Token: op.Token, TTL: op.TTL}
	}
	return quorum.Op{
		Kind: quorum.Extend, Token: s.Token, TTL: op.TTL,
		NewToken: op.Token, Replace: op.Token != s.Token, Keeps: op.Keeps,
	}
}

// decide returns a request that reads the lock first. choose may be called more than
// once, by any goroutine, but only before the reply is made; its last decision counts.
func (c call) decide(key string, choose func(quorum.State) decision) Request {
	var last decision
	op := quorum.Op{Kind: quorum.Decide, DB: c.db, Key: key}
	op.Decide = func(s quorum.State) quorum.Op {
		last = choose(s)
		switch {
		case s.Lapsed:
			last = last.onLapsed(s, choose(lapsing(s)))
		case s.TTL <= time.Millisecond && s.TTL < s.Hold && last.op.Kind == quorum.Read:
			last = last.onEnded(s, choose)
		}
		last.op.DB, last.op.Key = c.db, key
		return last.op
	}
	reply := shape(func(o *quorum.Outcome) resp.Reply {
		if carriedOut(o) {
			return last.reply
		}
		return replyIfChanged(c.in.cfg.MaxTTL, o, choose)
	})
	notices := func(outs []*quorum.Outcome) []Notice {
		if !carriedOut(outs[0]) {
			return nil
		}
		c.in.scripts.Keep(c.db, last.latches)
		return last.notices
	}
	return Request{Ops: []quorum.Op{op}, Reply: reply.one(), Notices: notices}
}

// onLapsed returns the decision on a lock whose TTL is over but whose copies are not
// (V15). held is what would be decided if it were still held. Nobody else can take the lock
// yet: an acquire gets the held decision. But who would have the lock either way takes the
// copies. Where held would release it, the reply is that of an absent lock, and the copies are
// deleted.
func (d decision) onLapsed(s quorum.State, held decision) decision {
	extends := held.op.Kind == quorum.Extend
	switch {
	case d.op.Kind == quorum.Acquire && extends && values.SameHolders(held.op.TokenAfter(), d.op.Token):
		d.op = replace(lapsing(s), d.op)
	case d.op.Kind == quorum.Acquire:
		return held
	case d.op.Kind == quorum.Read && held.op.Kind == quorum.Release:
		d.op = quorum.Op{Kind: quorum.Release, Token: s.Token}
	}
	return d
}

// onEnded returns the decision to do nothing about a lock whose TTL has ended, though it is not
// over yet (V15). Who would take the lock if it were absent is told when others may have it: told
// that a millisecond is left, it would ask again each millisecond.
func (d decision) onEnded(s quorum.State, choose func(quorum.State) decision) decision {
	s.TTL = s.Hold
	if held := choose(s); held.op.Kind == quorum.Read && choose(quorum.State{}).op.Kind == quorum.Acquire {
		return held
	}
	return d
}

// carriedOut reports whether the operation of the last decision was carried out.
func carriedOut(o *quorum.Outcome) bool {
	return o.Err == nil && o.Verdict != quorum.Changed && (o.Done == quorum.Read || o.Verdict == quorum.Won)
}

// lapsing returns a lapsed lock as held until others can have it, for a decision that would
// take it.
func lapsing(s quorum.State) quorum.State {
	return quorum.State{Found: true, Token: s.Token, TTL: max(s.TTL, time.Millisecond), Lapsed: true}
}

// replyIfChanged returns the reply if the lock was not in the state for which the
// decision was made. What the operation found is known except for the TTL. If there is
// nothing to do in that state, whatever the TTL, the reply made for it is true. (It is
// made with the least TTL, so that a client that waits for the TTL comes back too early
// rather than too late.) Otherwise the result is unknown (P4).
func replyIfChanged(maxTTL time.Duration, o *quorum.Outcome, choose func(quorum.State) decision) resp.Reply {
	met := quorum.State{}
	if o.Verdict == quorum.Held {
		if !o.State.Found {
			return Failed(quorum.ErrLockChanged) // another token, not known which
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

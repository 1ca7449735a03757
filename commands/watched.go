package commands

import (
	"slices"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// Watched is one key of WATCH with the state found there.
type Watched struct {
	DB  int
	Key string
	// Outcome is the outcome of the read that armed Watch; it has arrived.
	Outcome *quorum.Outcome
	Watch   *quorum.Watch
}

// state returns the state found under the key; its outcome must have no error.
func (w Watched) state() quorum.State {
	if w.Outcome.Verdict != quorum.Held {
		return quorum.State{}
	}
	return quorum.State{Found: true, Token: w.Outcome.State.Token, TTL: w.Outcome.State.TTL}
}

// Refusal returns the reply with which EXEC does nothing, given the outcome of a read
// now: the error if one of the two reads failed, the null array if the key is not as it
// was, or nil.
func (w Watched) Refusal(o *quorum.Outcome) *resp.Reply {
	var now quorum.State
	if o.Verdict == quorum.Held {
		now = o.State
	}
	switch {
	case w.Outcome.Err != nil:
		return new(Failed(w.Outcome.Err))
	case o.Err != nil:
		return new(Failed(o.Err))
	case w.Watch.Changed() || !w.unchanged(now):
		return &resp.NullArray
	}
	return nil
}

// unchanged reports whether the state that a read finds now is the one that was watched, also
// by its lock: a token may have come back.
func (w Watched) unchanged(now quorum.State) bool {
	return same(w.state(), now) && (w.Watch == nil || w.Watch.Fits(now))
}

// watchesAll reports whether all keys of a command are watched, so that it changes no lock that
// the client has not seen.
func watchesAll(watched []Watched, db int, spec *Spec, args [][]byte) bool {
	spec, refused := spec.resolve(args)
	if refused != "" || len(watched) == 0 {
		return false
	}
	keys, ok := spec.KeysOf(args)
	return ok && !slices.ContainsFunc(keys, func(key []byte) bool {
		return !slices.ContainsFunc(watched, func(w Watched) bool { return w.DB == db && w.Key == string(key) })
	})
}

// guardedOp is an operation under the condition that a lock is as it was seen.
type guardedOp struct {
	// op does what the client asked for if the lock is as it was seen, and
	// nothing otherwise.
	op   quorum.Op
	seen quorum.State
	// watched are the watches of the lock.
	watched []Watched
	// verdict is the verdict of the client's own operation if op finds the lock as it was
	// seen.
	verdict quorum.Verdict
	// prolonged is Outcome.Prolonged of the client's own operation.
	prolonged bool
}

// conditional makes one operation conditional: the lock must be as it was seen. An
// operation that would do something becomes a compare-and-do, one that would do nothing
// becomes a read.
func conditional(op quorum.Op, seen quorum.State) guardedOp {
	g := guardedOp{op: op, seen: seen, verdict: quorum.Won}
	ours := seen.Found && seen.Token == op.Token
	switch op.Kind {
	case quorum.Remove:
		g.op.Kind, g.op.Token = quorum.Release, seen.Token
	case quorum.Expire:
		g.op.Kind, g.op.Token = quorum.Extend, seen.Token
	case quorum.Store:
		g.op = replace(seen, op)
	case quorum.AcquireOrExtend:
		g.op, g.prolonged = replace(seen, op), ours
	}
	if !acts(op, seen.Found, ours) {
		g.op, g.verdict, g.prolonged = quorum.Op{Kind: quorum.Read}, stateVerdict(seen), false
	}
	return g
}

// acts reports whether an operation does something to a lock in this state.
func acts(op quorum.Op, found, ours bool) bool {
	switch op.Kind {
	case quorum.Acquire:
		return !found
	case quorum.AcquireOrExtend:
		return !found || ours
	case quorum.Release, quorum.Extend:
		return ours
	case quorum.Remove, quorum.Expire:
		return found
	case quorum.Store:
		return found || !op.IfPresent
	}
	return false
}

// outcome returns the outcome of the client's own operation; false if the lock was not as
// it was seen.
func (g guardedOp) outcome(o *quorum.Outcome) (quorum.Outcome, bool) {
	own := quorum.Outcome{Verdict: g.verdict, State: o.State, Prolonged: g.prolonged}
	switch {
	case o.Verdict == quorum.Changed:
		return own, false
	case g.op.Kind == quorum.Read:
		return own, o.Verdict == stateVerdict(g.seen) && (!g.seen.Found || g.unchanged(o.State))
	}
	return own, o.Verdict == quorum.Won
}

func (g guardedOp) unchanged(now quorum.State) bool {
	return !slices.ContainsFunc(g.watched, func(w Watched) bool { return !w.unchanged(now) })
}

// stateVerdict returns the verdict of a read of this state.
func stateVerdict(s quorum.State) quorum.Verdict {
	if s.Found {
		return quorum.Held
	}
	return quorum.Absent
}

// same reports whether a lock is the one that was seen; TTLs are not compared.
func same(a, b quorum.State) bool { return a.Found == b.Found && a.Token == b.Token }

func watchesOf(watched []Watched) []*quorum.Watch {
	var all []*quorum.Watch
	for _, w := range watched {
		if w.Watch != nil {
			all = append(all, w.Watch)
		}
	}
	return all
}

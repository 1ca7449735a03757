package commands

import (
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// Watched is one key of WATCH with what was found there.
type Watched struct {
	DB  int
	Key string
	// Outcome is that of the read that armed Watch; it has come.
	Outcome *quorum.Outcome
	Watch   *quorum.Watch
}

// state is what was found under the key; its outcome has no error.
func (w Watched) state() quorum.State {
	if w.Outcome.Verdict != quorum.Held {
		return quorum.State{}
	}
	return quorum.State{Found: true, Token: w.Outcome.State.Token, TTL: w.Outcome.State.TTL}
}

// Refusal is why EXEC does nothing, by what a read finds under the key now: what could
// not be read, the null array where it is not as it was, or nil.
func (w Watched) Refusal(o *quorum.Outcome) *resp.Reply {
	switch now := (Watched{Outcome: o}); {
	case w.Outcome.Err != nil:
		return new(Failed(w.Outcome.Err))
	case o.Err != nil:
		return new(Failed(o.Err))
	case w.Watch.Changed() || !same(w.state(), now.state()):
		return &resp.NullArray
	}
	return nil
}

// guardedOp is an operation under the condition that a lock is as it was seen.
type guardedOp struct {
	// op does what the client asked for if the lock is as it was seen, and
	// nothing otherwise.
	op   quorum.Op
	seen quorum.State
	// verdict is what the client's own operation comes to when op finds the
	// lock as it was seen.
	verdict quorum.Verdict
	// prolonged is Outcome.Prolonged of that.
	prolonged bool
}

// conditional puts one operation under the condition that the lock is as it
// was seen: what would do something becomes a compare-and-do, what would do
// nothing becomes a read.
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

// outcome is what the client's own operation has come to; false when the lock
// was not as it was seen.
func (g guardedOp) outcome(o *quorum.Outcome) (quorum.Outcome, bool) {
	told := quorum.Outcome{Verdict: g.verdict, State: o.State, Prolonged: g.prolonged}
	switch {
	case o.Verdict == quorum.Changed:
		return told, false
	case g.op.Kind == quorum.Read:
		return told, o.Verdict == stateVerdict(g.seen) && (!g.seen.Found || o.State.Token == g.seen.Token)
	}
	return told, o.Verdict == quorum.Won
}

// stateVerdict is how a read of this state ends.
func stateVerdict(s quorum.State) quorum.Verdict {
	if s.Found {
		return quorum.Held
	}
	return quorum.Absent
}

// same reports whether a lock is the one that was seen; its TTL runs on.
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

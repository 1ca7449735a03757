package commands

import (
	"slices"

	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// prolongEach returns the request of a script that does nothing to its keys but prolong them,
// each by what it holds itself. So each is an operation of its own: where one cannot be decided on,
// the reply is an error, but the others are prolonged. Whether the keys depend on one another
// shows at last, when the script runs on all that was found.
func prolongEach(c call, l *authorizedPlan) Request {
	all := Request{}
	found := make([]quorum.State, len(l.keys))
	parts := make([]Request, len(l.keys))
	for i, key := range l.keys {
		parts[i] = c.decide(key, func(s quorum.State) decision {
			states := make([]quorum.State, len(l.keys))
			states[i] = s
			p := l.plan(states)
			p.changes = slices.DeleteFunc(p.changes, func(c quorum.Change) bool { return c.Key != key })
			p.grants = slices.DeleteFunc(p.grants, func(c quorum.Change) bool { return c.Key != key })
			return p.decision(s)
		})
		op := parts[i].Ops[0]
		choose := op.Decide
		op.Decide = func(s quorum.State) quorum.Op {
			found[i] = s
			return choose(s)
		}
		all.Ops = append(all.Ops, op)
	}
	all.Reply = func(outs []*quorum.Outcome) resp.Reply {
		if r, failed := failure(outs); failed {
			return r
		}
		for i, o := range outs {
			if !carriedOut(o) {
				found[i] = quorum.State{} // the lock was lost meanwhile
			}
		}
		p := l.plan(found)
		for i, o := range outs {
			if (p.of(l.keys[i]) != nil) != (o.Done == quorum.Extend && carriedOut(o)) {
				return Failed(quorum.ErrLockChanged)
			}
		}
		return p.reply
	}
	return all
}

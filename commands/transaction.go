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

// Exec understands a transaction (S4): what was queued, under the condition
// that what was watched is still so, as one conditional operation. What
// cannot be done so is refused by the reply, with nothing done. queue holds
// only commands that Check let pass.
//
// An error is always the whole reply and never an item of the array, since
// clients take any array for success.
func (in *Interpreter) Exec(db int, watched []Watched, queue [][][]byte) Request {
	// A key that nobody could read comes first: the client's own comparison
	// was made with nothing.
	for _, w := range watched {
		if w.Outcome.Err != nil {
			return answer(Failed(w.Outcome.Err))
		}
	}
	for _, w := range watched {
		if w.Watch != nil && w.Watch.Changed() {
			return answer(resp.NullArray)
		}
	}
	switch len(queue) {
	case 0:
		return answer(resp.Array())
	case 1:
		if req, exact := in.execOne(db, watched, queue[0]); exact {
			return req
		}
	}
	return in.execSeveral(db, watched, queue)
}

// execOne is a transaction of one command: where one operation on one key is
// all it means, that is one fan-out. It is false where that is not so.
func (in *Interpreter) execOne(db int, watched []Watched, args [][]byte) (Request, bool) {
	spec := lookup(args[0])
	if spec == nil {
		return answer(unknown(args)), true
	}
	req := in.understand(call{db: db, spec: spec, args: args, guarded: len(watched) > 0})
	switch {
	case len(req.Ops) == 0 && (len(watched) == 0 || spec.Subcommands != nil || fails(req)):
		return Request{Reply: inArray(req.Reply)}, true
	case len(watched) == 0 && (len(req.Ops) == 1 || onlyReads(req.Ops)):
		return Request{Ops: req.Ops, Reply: inArray(req.Reply), Notices: req.Notices}, true
	case len(watched) > 0 && len(req.Ops) > 0 && req.Notices == nil && onlyKey(req.Ops, watched):
		return guard(req, watched), true
	}
	return Request{}, false
}

// fails reports whether a request that asks no master is an error.
func fails(req Request) bool { return req.Reply(nil).Kind == resp.KindError }

func onlyReads(ops []quorum.Op) bool {
	for _, op := range ops {
		if op.Kind != quorum.Read {
			return false
		}
	}
	return true
}

// guard puts a request under the condition that the watched key is as it was.
func guard(req Request, watched []Watched) Request {
	seen := watched[0].state()
	for _, w := range watched[1:] {
		if !same(w.state(), seen) {
			return answer(resp.NullArray)
		}
	}
	guards := make([]guardedOp, len(req.Ops))
	ops := make([]quorum.Op, len(req.Ops))
	for i, op := range req.Ops {
		guards[i] = conditional(op, seen)
		ops[i] = guards[i].op
		ops[i].DB, ops[i].Key, ops[i].Unless = op.DB, op.Key, watchesOf(watched)
	}
	return Request{Ops: ops, Reply: inArray(guardedReply(req.Reply, guards))}
}

// guardedReply gives a reply the outcomes that its own operations would have
// had, or the null array when the watched key is not as it was.
func guardedReply(reply func([]*quorum.Outcome) resp.Reply, guards []guardedOp) func([]*quorum.Outcome) resp.Reply {
	return func(outs []*quorum.Outcome) resp.Reply {
		if r, failed := failure(outs); failed {
			return r
		}
		told := make([]*quorum.Outcome, len(outs))
		for i := range outs {
			o, ok := guards[i].outcome(outs[i])
			if !ok {
				return resp.NullArray
			}
			told[i] = &o
		}
		return reply(told)
	}
}

// inArray is the reply of EXEC with one command. A null array says that the
// transaction failed: no command of this package answers one by itself.
func inArray(reply func([]*quorum.Outcome) resp.Reply) func([]*quorum.Outcome) resp.Reply {
	return func(outs []*quorum.Outcome) resp.Reply {
		r := reply(outs)
		if r.Kind == resp.KindError || r.Kind == resp.KindNullArray {
			return r
		}
		return resp.Array(r)
	}
}

// onlyKey reports whether one key is all that is watched and all that is meant: by
// one operation that needs no look, or by reads.
func onlyKey(ops []quorum.Op, watched []Watched) bool {
	key, db := watched[0].Key, watched[0].DB
	for _, w := range watched {
		if w.Key != key || w.DB != db {
			return false
		}
	}
	for _, op := range ops {
		if op.Key != key || op.DB != db || op.Kind >= quorum.Decide || (len(ops) > 1 && op.Kind != quorum.Read) {
			return false
		}
	}
	return true
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

package commands

import (
	"errors"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// Exec translates a transaction (S4) into one conditional operation: the queue is carried
// out if the watched keys are unchanged. A queue that cannot be carried out so is refused
// as a whole. queue holds only commands that Check has accepted.
//
// An error is always the whole reply and never an item of the array, since
// clients take any array for success.
func (in *Interpreter) Exec(db int, watched []Watched, queue [][][]byte) Request {
	// A key that could not be read comes first: the client had nothing to compare with.
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
		if req, exact := execOne(in, db, watched, queue[0]); exact {
			return req
		}
	}
	return execSeveral(in, db, watched, queue)
}

// execOne returns the request of a transaction of one command if it takes one fan-out:
// the command is one operation or only reads, and under WATCH all are on the only watched
// key. It returns false for other commands.
func execOne(in *Interpreter, db int, watched []Watched, args [][]byte) (Request, bool) {
	spec := lookup(args[0])
	if spec == nil {
		return answer(unknown(args)), true
	}
	req := in.understand(call{db: db, spec: spec, args: args, guarded: len(watched) > 0, watchesAll: watchesAll(watched, db, spec, args)})
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

// fails reports whether a request without operations answers an error.
func fails(req Request) bool { return req.Reply(nil).Kind == resp.KindError }

func onlyReads(ops []quorum.Op) bool {
	for _, op := range ops {
		if op.Kind != quorum.Read {
			return false
		}
	}
	return true
}

// guard makes a request conditional: the watched key must be as it was.
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
		guards[i].watched = watched
		ops[i] = guards[i].op
		ops[i].DB, ops[i].Key, ops[i].Unless = op.DB, op.Key, watchesOf(watched)
	}
	return Request{Ops: ops, Reply: inArray(guardedReply(req.Reply, guards))}
}

// guardedReply returns reply with the outcomes that its own operations would have had, or
// the null array if the watched key is not as it was.
func guardedReply(reply func([]*quorum.Outcome) resp.Reply, guards []guardedOp) func([]*quorum.Outcome) resp.Reply {
	return func(outs []*quorum.Outcome) resp.Reply {
		if r, failed := failure(outs); failed {
			return r
		}
		own := make([]*quorum.Outcome, len(outs))
		for i := range outs {
			o, ok := guards[i].outcome(outs[i])
			if !ok {
				return resp.NullArray
			}
			own[i] = &o
		}
		return reply(own)
	}
}

// inArray returns the reply of EXEC with one command. A null array means that the
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

// onlyKey reports whether all that is watched, and all that the operations are on, is one
// key, and there is one operation that needs no read before, or only reads.
func onlyKey(ops []quorum.Op, watched []Watched) bool {
	key, db := watched[0].Key, watched[0].DB
	for _, w := range watched {
		if w.Key != key || w.DB != db {
			return false
		}
	}
	for _, op := range ops {
		if op.Key != key || op.DB != db || op.Kind >= quorum.Decide || op.Decide != nil || (len(ops) > 1 && op.Kind != quorum.Read) {
			return false
		}
	}
	return true
}

// execSeveral returns the request of a transaction of several commands, or on several
// keys. The commands run, in order, on the model of keys that scripts run on, and their
// effects are carried out as one conditional operation (S4). What counts is the lock that
// results: SETNX and EXPIRE make one with a TTL.
func execSeveral(in *Interpreter, db int, watched []Watched, queue [][][]byte) Request {
	for _, w := range watched {
		if w.DB != db {
			return refuse(errOtherDB)
		}
	}
	list, refused := scriptCommands(in, db, queue, watched)
	if refused != "" {
		return refuse(refused)
	}
	m, err := in.scripts.Transact(db, list)
	if err != nil {
		return refuse(transactionError(err))
	}
	t := transaction{in: in, db: db, watched: watched, meaning: m, name: "exec"}
	for _, args := range queue {
		if ok, refusal := in.Permits(db, args, len(watched) > 0); !ok {
			return refuse(refusal.Text)
		}
		t.authorized.words = append(t.authorized.words, args[1:]...)
	}
	return t.request()
}

// scriptCommands returns the queue in the form of package script, or the error text.
func scriptCommands(in *Interpreter, db int, queue [][][]byte, watched []Watched) ([]script.Command, string) {
	list := make([]script.Command, 0, len(queue))
	for _, args := range queue {
		c := call{in: in, db: db, spec: lookup(args[0]), args: args, guarded: len(watched) > 0}
		if c.spec == nil {
			return nil, unknown(args).Text
		}
		c.watchesAll = watchesAll(watched, db, c.spec, args)
		sc, refused := scriptCommand(c)
		if refused != "" {
			return nil, refused
		}
		list = append(list, sc)
	}
	return list, ""
}

func scriptCommand(c call) (sc script.Command, refused string) {
	if c.spec.inExec != nil {
		return c.spec.inExec(c)
	}
	if unconditional(c) && c.denied() {
		return sc, deniedText(c.spec.Name)
	}
	for _, word := range c.args {
		sc.Words = append(sc.Words, string(word))
	}
	return sc, ""
}

// unconditional reports whether the call names no token and does not spare an existing
// lock (Config.Deny).
func unconditional(c call) bool { return c.spec.conditional == nil || !c.spec.conditional(c) }

func transactionError(err error) string {
	var refused *script.RefusedError
	if errors.As(err, &refused) {
		return notATransaction(refused.Did)
	}
	return oneLine(err.Error())
}

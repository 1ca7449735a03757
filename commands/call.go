package commands

import (
	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/commands/values"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// Interpreter translates lock commands. It is safe for concurrent use; its only memory is
// that of scripts, which all sessions share.
type Interpreter struct {
	cfg     Config
	now     func() int64
	scripts library
	denied  map[string]bool
	rights  Rights // nil allows everything
	limits  *limits
	seen    *sightings
}

// library is what the Interpreter needs of script.Library.
type library interface {
	Load(body string) (sha string, err error)
	Exists(sha string) bool
	Flush()
	Understand(db int, sha string, keys, args []string) (*script.Meaning, error)
	Transact(db int, commands []script.Command) (*script.Meaning, error)
	Sweep(db int, sha string, keys, args []string, listed map[string][]string) (*script.Meaning, error)
	Keep(db int, latches []script.Latch)
	Forget(db int, latch string) bool
	Scripts() int
}

// call is one command on its way to a Request.
type call struct {
	in   *Interpreter
	db   int
	spec *Spec
	args [][]byte
	// listed are the keys that a script's calls of KEYS return, by pattern.
	listed map[string][]string
	// guarded reports whether the call is in a transaction under WATCH, watchesAll whether
	// that watches all of its keys, so that it is not unconditional (Config.Deny).
	guarded, watchesAll bool
}

// understand is Understand for a call of a known command.
func (in *Interpreter) understand(c call) Request {
	spec, refused := c.spec.resolve(c.args)
	if refused != "" {
		return refuse(refused)
	}
	c.in, c.spec = in, spec
	if refused := c.noCommandRight(); refused != "" {
		return refuse(refused)
	}
	if refused := c.tooLong(); refused != "" {
		return refuse(refused)
	}
	if i := spec.token; i > 0 && values.Hidden(c.arg(i)) {
		return refuse(errHidden)
	}
	req := spec.run(c)
	req.List = spec.list
	if refused := c.noRequestRight(req); refused != "" {
		return refuse(refused)
	}
	for i := range req.Ops {
		op := &req.Ops[i]
		if refused := in.badKey(op.Key); refused != "" {
			return refuse(refused)
		}
		if values.Hidden(op.Token) || values.Hidden(op.NewToken) {
			return refuse(errHidden)
		}
		for _, key := range op.Keys {
			if refused := in.badKey(key); refused != "" {
				return refuse(refused)
			}
		}
	}
	return req
}

// arg returns argument i, as the key or token of an operation.
func (c call) arg(i int) string { return string(c.args[i]) }

// denied reports whether the configuration refuses this command, or one that does the
// same, outside of WATCH. The caller checks whether the call is unconditional.
func (c call) denied() bool {
	return !c.watchesAll && (c.in.denied[c.spec.Name] || c.in.denied[c.spec.deniedWith])
}

// one returns a request of one operation on the key args[1].
func (c call) one(op quorum.Op, reply func([]*quorum.Outcome) resp.Reply) Request {
	op.DB, op.Key = c.db, c.arg(1)
	return Request{Ops: []quorum.Op{op}, Reply: reply}
}

package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// Interpreter understands lock commands. It is safe for concurrent use; all
// it keeps is the memory of scripts, which all sessions share.
type Interpreter struct {
	cfg     Config
	now     func() int64
	scripts library
	denied  map[string]bool
	rights  Rights // nil for everything
	limits  *limits
}

// library is what the Interpreter needs of script.Library.
type library interface {
	Load(body string) (sha string, err error)
	Exists(sha string) bool
	Flush()
	Understand(db int, sha string, keys, args []string) (*script.Meaning, error)
	Transact(db int, commands []script.Command) (*script.Meaning, error)
	Sweep(db int, sha string, keys, args []string, listed map[string][]string) (*script.Meaning, error)
	Scripts() int
}

// New returns an Interpreter. now tells the masters' time in milliseconds
// since 1970, for absolute expiries.
func New(cfg Config, now func() int64) *Interpreter {
	scripts := script.NewLibrary()
	scripts.Clock(now)
	return newInterpreter(cfg, now, scripts)
}

func newInterpreter(cfg Config, now func() int64, scripts library) *Interpreter {
	in := &Interpreter{cfg: cfg, now: now, scripts: scripts, denied: map[string]bool{}, limits: new(limits)}
	for _, name := range cfg.Deny {
		in.denied[name] = true
	}
	return in
}

// Request is an understood command: the operations it means, which may be
// carried out side by side, and the shape of its reply. Without operations
// the reply does not depend on the masters.
type Request struct {
	Ops []quorum.Op
	// Reply fills the shape, once, with the outcomes in the order of Ops. An
	// outcome with Err makes the whole reply that error.
	Reply func([]*quorum.Outcome) resp.Reply
	// Notices, if not nil, are what those who wait for a lock are to be told
	// when the outcomes are there; none where nothing was done.
	Notices func([]*quorum.Outcome) []Notice

	// List, if not nil, is what the reply becomes for each of the Ops whose key is
	// also that of a signal list with some time left, which no master has.
	List func(r *resp.Reply, left time.Duration)

	// Sweep, if not nil, says that the command asks for all keys of a pattern:
	// where they can be listed, what it means is told by Sweep.Understand. Reply
	// is the refusal for where they cannot.
	Sweep *Sweep

	// needs is what the request needs besides what its Ops tell; forbidden is
	// why the client may not carry it out, or "".
	needs     Operations
	forbidden string
}

// Known reports whether a command of this name, in any case, is one of this
// package's.
func Known(name []byte) bool { return lookup(name) != nil }

// Understand says what a command means. args[0] is its name in any case; the
// slices are not kept. The second result is false where the command is none
// of this package's; then nothing else is said about it.
func (in *Interpreter) Understand(db int, args [][]byte) (Request, bool) {
	spec := lookup(args[0])
	if spec == nil {
		return Request{}, false
	}
	return in.understand(call{db: db, spec: spec, args: args}), true
}

// Check tells whether a command of this package may be queued by MULTI: an
// unknown option is found only at EXEC, an unknown name and a wrong number of
// arguments at once, as in Redis. The reply is set when the first result is
// false.
func (in *Interpreter) Check(args [][]byte) (ok bool, refusal resp.Reply) {
	spec := lookup(args[0])
	if spec == nil {
		return false, unknown(args)
	}
	if _, refused := spec.resolve(args); refused != "" {
		return false, resp.Error(refused)
	}
	return true, resp.Reply{}
}

// call is one command on its way to being understood.
type call struct {
	in   *Interpreter
	db   int
	spec *Spec
	args [][]byte
	// listed are the keys that a script's KEYS find, by pattern.
	listed map[string][]string
	// guarded is whether it stands in a transaction under WATCH, so that it
	// is not unconditional (Config.Deny).
	guarded bool
}

// understand is Understand for a call of a known command.
func (in *Interpreter) understand(c call) Request {
	spec, refused := c.spec.resolve(c.args)
	if refused != "" {
		return refuse(refused)
	}
	c.in, c.spec = in, spec
	if refused := c.forbidden(); refused != "" {
		return refuse(refused)
	}
	if refused := c.tooLong(); refused != "" {
		return refuse(refused)
	}
	req := spec.run(c)
	req.List = spec.list
	if refused := c.forbids(req); refused != "" {
		return refuse(refused)
	}
	for i := range req.Ops {
		op := &req.Ops[i]
		if refused := in.badKey(op.Key); refused != "" {
			return refuse(refused)
		}
		for _, key := range op.Keys {
			if refused := in.badKey(key); refused != "" {
				return refuse(refused)
			}
		}
	}
	return req
}

// arg is argument i as the key, or the token, of an operation.
func (c call) arg(i int) string { return string(c.args[i]) }

// denied reports whether the configuration refuses this command, or one that does
// the same, where it asks for no token.
func (c call) denied() bool {
	return !c.guarded && (c.in.denied[c.spec.Name] || c.in.denied[c.spec.like])
}

// one is a request of one operation on the key that is args[1].
func (c call) one(op quorum.Op, reply func([]*quorum.Outcome) resp.Reply) Request {
	op.DB, op.Key = c.db, c.arg(1)
	return Request{Ops: []quorum.Op{op}, Reply: reply}
}

// answer is a request that needs no masters.
func answer(r resp.Reply) Request {
	return Request{Reply: func([]*quorum.Outcome) resp.Reply { return r }}
}

// refuse is a request that is answered by an error.
func refuse(text string) Request { return answer(resp.Error(text)) }

// forbid is a request that the client has no right to; text says to what of it.
func forbid(text string) Request {
	req := refuse(text)
	req.forbidden = text
	return req
}

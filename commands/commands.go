package commands

import (
	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
)

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

// For returns an Interpreter that shares everything with this one and refuses
// what the rights do not allow, before anything is asked of a master.
//
// What counts is what a command does, not its name: a script needs the
// operations that it means, in whatever state it finds its keys. Where that
// was not proved for all calls (script.PerCall) it needs MayRead, because its
// reply can tell anything of what it found, and each run is looked at: what
// it does to a lock whose token the client has not named needs MayRemove.
func (in *Interpreter) For(r Rights) *Interpreter {
	narrowed := *in
	narrowed.rights = r
	return &narrowed
}

// Permits tells whether a command may be queued by MULTI. guarded is whether
// keys are watched: then what is not conditional by itself counts as
// conditional, and EXEC looks again.
func (in *Interpreter) Permits(db int, args [][]byte, guarded bool) (ok bool, refusal resp.Reply) {
	spec := lookup(args[0])
	if in.rights == nil || spec == nil {
		return true, resp.Reply{}
	}
	spec, refused := spec.resolve(args)
	if refused != "" {
		return false, resp.Error(refused)
	}
	c := call{in: in, db: db, spec: spec, args: args, guarded: guarded}
	if refused := c.forbidden(); refused != "" {
		return false, resp.Error(refused)
	}
	if spec.atOnce {
		return true, resp.Reply{}
	}
	refused = c.forbids(spec.run(c))
	return refused == "", resp.Error(refused)
}

// Scripts is how many scripts are kept.
func (in *Interpreter) Scripts() int { return in.scripts.Scripts() }

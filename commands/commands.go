package commands

import (
	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
)

// New returns an Interpreter. now returns this redlockd's wall clock in milliseconds since
// 1970, by which absolute expiries go (C3); it must be safe for concurrent use.
func New(cfg Config, now func() int64) *Interpreter {
	scripts := script.NewLibrary()
	scripts.Clock(now)
	return newInterpreter(cfg, now, scripts)
}

func newInterpreter(cfg Config, now func() int64, scripts library) *Interpreter {
	in := &Interpreter{cfg: cfg, now: now, scripts: scripts, denied: map[string]bool{}, limits: new(limits), seen: newSightings()}
	for _, name := range cfg.Deny {
		in.denied[name] = true
	}
	return in
}

// Known reports whether this package has a command of this name, in any case.
func Known(name []byte) bool { return lookup(name) != nil }

// Understand returns what a command means. args[0] is its name in any case; the slices
// are not kept. The second result is false if this package has no such command.
func (in *Interpreter) Understand(db int, args [][]byte) (Request, bool) {
	spec := lookup(args[0])
	if spec == nil {
		return Request{}, false
	}
	return in.understand(call{db: db, spec: spec, args: args}), true
}

// Check reports whether MULTI may queue a command of this package. As in Redis an unknown
// name or a wrong number of arguments is found at once, an unknown option only at EXEC.
// The reply is set when the first result is false.
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

// For returns an Interpreter that shares everything with this one and refuses what the
// rights do not allow, before a master is asked.
//
// What counts is what a command does, not its name: a script needs the rights for the
// operations that it means, in whatever state it finds its keys. A script whose meaning
// was not proved for all calls (script.PerCall) needs MayRead, because its reply may
// contain anything it found. Each of its runs is checked: to change a lock whose token
// the client has not sent it needs MayRemove.
func (in *Interpreter) For(r Rights) *Interpreter {
	narrowed := *in
	narrowed.rights = r
	return &narrowed
}

// Permits reports whether the rights let MULTI queue a command. guarded is whether keys
// are watched: then an unconditional command counts as conditional; EXEC checks again.
func (in *Interpreter) Permits(db int, args [][]byte, guarded bool) (ok bool, refusal resp.Reply) {
	spec := lookup(args[0])
	if in.rights == nil || spec == nil {
		return true, resp.Reply{}
	}
	spec, refused := spec.resolve(args)
	if refused != "" {
		return false, resp.Error(refused)
	}
	c := call{in: in, db: db, spec: spec, args: args, guarded: guarded, watchesAll: guarded}
	if refused := c.noCommandRight(); refused != "" {
		return false, resp.Error(refused)
	}
	if spec.actsWhenTranslated {
		return true, resp.Reply{}
	}
	refused = c.noRequestRight(spec.run(c))
	return refused == "", resp.Error(refused)
}

// Scripts returns the number of scripts that are kept.
func (in *Interpreter) Scripts() int { return in.scripts.Scripts() }

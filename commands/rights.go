package commands

import (
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/quorum"
)

// Operations is a set of what a user may do to locks.
type Operations uint8

const (
	// MayAcquire: take a lock that is free, and wait for one.
	MayAcquire Operations = 1 << iota
	// MayExtend: prolong a lock by its token.
	MayExtend
	// MayRelease: free a lock by its token.
	MayRelease
	// MayRead: see tokens and remaining times.
	MayRead
	// MayRemove: free, prolong or overwrite a lock without naming its token.
	MayRemove
	// MayAdmin: what concerns other users and sessions.
	MayAdmin
)

// MayAll is every operation.
const MayAll = MayAcquire | MayExtend | MayRelease | MayRead | MayRemove | MayAdmin

// Rights says what a client may do. It must be safe for concurrent use.
type Rights interface {
	// May is whether all of these operations are allowed.
	May(Operations) bool
	// Key is whether the key may be named, Channel whether it may be
	// published to.
	Key(string) bool
	Channel(string) bool
}

// Redis's own texts. NoPermCommand bears a command's name, as "set" or
// "client|list".
const (
	NoPermKey     = "NOPERM this user has no permissions to access one of the keys used as arguments"
	NoPermChannel = "NOPERM this user has no permissions to access one of the channels used as arguments"
)

// NoPermCommand is the reply to a command that a user has no right to.
func NoPermCommand(name string) string {
	return "NOPERM this user has no permissions to run the '" + name + "' command"
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

// forbidden is why the command may not be run whatever it means, or "".
func (c call) forbidden() string {
	if r := c.in.rights; r != nil && !r.May(c.spec.needs) {
		return NoPermCommand(c.spec.Name)
	}
	return ""
}

// forbids is why what was understood may not be carried out, or "". In Redis's
// order the command comes before its keys, and both before its syntax.
func (c call) forbids(req Request) string {
	r := c.in.rights
	if r == nil {
		return ""
	}
	needs := req.needs
	for i := range req.Ops {
		needs |= opNeeds(req.Ops[i].Kind, c.guarded)
	}
	if !r.May(needs) || needs&^c.spec.May != 0 {
		return NoPermCommand(c.spec.Name)
	}
	for i := range req.Ops {
		if !r.Key(req.Ops[i].Key) {
			return NoPermKey
		}
	}
	if req.forbidden != "" {
		return req.forbidden
	}
	keys, _ := c.spec.KeysOf(c.args)
	for _, key := range keys {
		if !r.Key(string(key)) {
			return NoPermKey
		}
	}
	return ""
}

// with is the request that needs more.
func (req Request) with(needs Operations) Request {
	req.needs |= needs
	return req
}

// opNeeds is what an operation needs. A Decide says it itself (Request.needs).
func opNeeds(kind quorum.Kind, guarded bool) Operations {
	switch kind {
	case quorum.Read:
		return MayRead
	case quorum.Acquire:
		return MayAcquire
	case quorum.AcquireOrExtend:
		return MayAcquire | MayExtend
	case quorum.Release:
		return MayRelease
	case quorum.Extend:
		return MayExtend
	case quorum.Remove:
		if guarded {
			return MayRelease
		}
		return MayRemove
	case quorum.Expire:
		if guarded {
			return MayExtend
		}
		return MayRemove
	case quorum.Store:
		if guarded {
			return MayAcquire | MayExtend
		}
		return MayRemove
	}
	return 0
}

// refusedNotices is why these notices may not be given, or "".
func (in *Interpreter) refusedNotices(list []Notice) string {
	if in.rights == nil {
		return ""
	}
	for _, n := range list {
		switch {
		case n.Signal != "" && !in.rights.Key(n.Signal):
			return NoPermKey
		case n.Signal == "" && !in.rights.Channel(n.Channel):
			return NoPermChannel
		}
	}
	return ""
}

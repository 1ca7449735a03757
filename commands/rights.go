package commands

import (
	"github.com/redlockd/redlockd/commands/script"
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
	// MayAdmin: look at other users and sessions.
	MayAdmin
)

// MayAll is every operation.
const MayAll = MayAcquire | MayExtend | MayRelease | MayRead | MayRemove | MayAdmin

// Rights are what a client may do. They must be safe for concurrent use.
type Rights interface {
	// May reports whether all of these operations are allowed.
	May(Operations) bool
	// Key reports whether the key may be named, Channel whether the client may publish to
	// the channel.
	Key(string) bool
	Channel(string) bool
}

// Redis's own texts.
const (
	NoPermKey     = "NOPERM this user has no permissions to access one of the keys used as arguments"
	NoPermChannel = "NOPERM this user has no permissions to access one of the channels used as arguments"
)

// NoPermCommand returns the error text for a command that a user has no right to. name is
// like "set" or "client|list".
func NoPermCommand(name string) string {
	return "NOPERM this user has no permissions to run the '" + name + "' command"
}

// noCommandRight returns the error text if the client has no right to the command,
// whatever it means, or "".
func (c call) noCommandRight() string {
	if r := c.in.rights; r != nil && !r.May(c.spec.needs) {
		return NoPermCommand(c.spec.Name)
	}
	return ""
}

// noRequestRight returns the error text if the client has no right to the request, or
// "". As in Redis the command is checked before its keys, and both before its syntax.
func (c call) noRequestRight(req Request) string {
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
	if req.noRight != "" {
		return req.noRight
	}
	keys, _ := c.spec.KeysOf(c.args)
	for _, key := range keys {
		if !script.IsLatch(string(key)) && !r.Key(string(key)) {
			return NoPermKey
		}
	}
	return ""
}

// opNeeds returns what an operation needs. For a Decide Request.needs has it.
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

// refusedNotices returns the error text if the client has no right to a notice, or "".
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

package proxy

import (
	"strings"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
)

// localCommand is one row of the table: everything about a command that is answered
// without an attempt at the masters.
type localCommand struct {
	name string
	// arity includes the name; if negative it is the least number, as in Redis.
	arity int
	// run returns the reply at once. special queues it in a way of its own: several
	// replies, a late one, or none.
	run     func(s *session, args [][]byte) resp.Reply
	special func(s *session, args [][]byte)
	access
	// subs are the subcommands whose rows differ in something; it is not nil where NOPERM
	// names the subcommand.
	subs subcommands

	beforeLogin     bool // allowed before login
	whileSubscribed bool // allowed in the subscriber mode of RESP2
	runsInMulti     bool // carried out inside MULTI instead of queued
	notInMulti      bool
	// besideLocks allows it beside lock commands in MULTI: its effect does not depend on
	// theirs, nor theirs on it. (UNWATCH comes too late to matter: EXEC has checked the
	// watched keys before.)
	besideLocks bool
	// refuseInMulti, if not nil, returns the error with which MULTI refuses to queue it,
	// or nil.
	refuseInMulti func(args [][]byte) *resp.Reply
}

// spec returns the command as COMMAND describes it.
func (c *localCommand) spec() commands.Spec {
	spec := commands.Spec{Name: c.name, Arity: c.arity, Flags: []string{"noscript", "loading", "stale", "fast"}}
	if c.keys.from > 0 {
		spec.First, spec.Last, spec.Step = c.keys.from, -1-c.keys.tail, 1
		if c.arity > 0 {
			spec.Last += c.arity
		}
	}
	return spec
}

// localCommands are all rows, and locals the same by name. init fills them, because
// COMMAND's own row refers to them.
var (
	localCommands []localCommand
	locals        map[string]localCommand
)

// subcommands are the subcommands of one command, by name in lower case.
type subcommands map[string]subcommand

// subcommand is one of CLIENT, ACL or LOCKS. arity includes both names. A subcommand
// without run and special is refused: it would change what only the file may change.
type subcommand struct {
	arity   int
	run     func(s *session, args [][]byte) resp.Reply
	special func(s *session, args [][]byte)
	access
	notInMulti bool
}

func (c *subcommand) refused() bool { return c.run == nil && c.special == nil }

// subcommandOf returns the subcommand that a call names, or the error with which the call
// is refused.
func subcommandOf(command string, args [][]byte) (subcommand, *resp.Reply) {
	name := strings.ToLower(resp.Clean(args[1], 32))
	c, ok := locals[command].subs[name]
	switch {
	case !ok:
		return c, new(unknownSubcommand(command, args[1]))
	case !commands.Takes(c.arity, len(args)):
		return c, new(wrongArity(command + "|" + name))
	case c.refused():
		return c, new(resp.Error(commands.NoPermCommand(command + "|" + name)))
	}
	return c, nil
}

// runSubcommand answers a subcommand that has a run function.
func runSubcommand(s *session, command string, args [][]byte) resp.Reply {
	c, refusal := subcommandOf(command, args)
	if refusal != nil {
		return *refusal
	}
	return c.run(s, args)
}

// always returns a command that answers r.
func always(r resp.Reply) func(*session, [][]byte) resp.Reply {
	return func(*session, [][]byte) resp.Reply { return r }
}

// commandNames holds the name of every command once, so that sessions share the strings;
// clientNames are the subcommands of CLIENT as CLIENT LIST shows them.
var commandNames, clientNames = make(map[string]string), make(map[string]string)

// nameCommands fills commandNames and clientNames.
func nameCommands() {
	for _, c := range localCommands {
		commandNames[c.name] = c.name
	}
	for _, c := range commands.Table() {
		commandNames[c.Name] = c.Name
	}
	for name := range locals["client"].subs {
		clientNames[name] = "client|" + name
	}
}

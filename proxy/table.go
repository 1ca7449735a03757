package proxy

import (
	"strings"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
)

// localCommand is a command that is answered without asking the masters: all
// that there is to say of it, in one row.
type localCommand struct {
	name string
	// arity counts the name; a negative one is the least number, as in Redis.
	arity int
	// run answers the command at once. special does so in a way of its own:
	// with several replies, a late one, or none.
	run     func(s *session, args [][]byte) resp.Reply
	special func(s *session, args [][]byte)
	access
	// subs are the subcommands that differ in something; it is not nil where
	// NOPERM names the subcommand.
	subs subcommands

	beforeLogin     bool // allowed before login
	whileSubscribed bool // allowed in the subscriber mode of RESP2
	ofMulti         bool // carried out inside MULTI instead of queued
	notInMulti      bool
	// beside says that it may stand beside lock commands in MULTI: what it does
	// does not matter to what others do. (EXEC has looked at the watched keys
	// before UNWATCH comes.)
	beside bool
	// queues, if not nil, is why MULTI may not queue it, or nil.
	queues func(args [][]byte) *resp.Reply
}

// spec is the command as COMMAND tells it.
func (c *localCommand) spec() commands.Spec {
	spec := commands.Spec{Name: c.name, Arity: c.arity, Flags: []string{"noscript", "loading", "stale", "fast"}}
	if c.keys.from > 0 {
		spec.First, spec.Last, spec.Step = c.keys.from, -1-c.keys.over, 1
		if c.arity > 0 {
			spec.Last += c.arity
		}
	}
	return spec
}

// localCommands are all of them, and locals the same by name. They are filled by
// init because COMMAND reads them.
var (
	localCommands []localCommand
	locals        map[string]localCommand
)

// subcommands are those of one command, by name in lower case.
type subcommands map[string]subcommand

// subcommand is one of CLIENT, ACL or LOCKS. arity counts both names. Without
// run and special it would change something, which only the file does.
type subcommand struct {
	arity   int
	run     func(s *session, args [][]byte) resp.Reply
	special func(s *session, args [][]byte)
	access
	notInMulti bool
}

func (c *subcommand) refused() bool { return c.run == nil && c.special == nil }

// subcommandOf finds the subcommand of a command that has some, or says why it
// cannot be called so.
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

// runSubcommand answers a subcommand that has a run.
func runSubcommand(s *session, command string, args [][]byte) resp.Reply {
	c, refusal := subcommandOf(command, args)
	if refusal != nil {
		return *refusal
	}
	return c.run(s, args)
}

// always answers with r.
func always(r resp.Reply) func(*session, [][]byte) resp.Reply {
	return func(*session, [][]byte) resp.Reply { return r }
}

// commandNames holds every name once, so that a session need not keep copies;
// clientNames are the subcommands of CLIENT as CLIENT LIST shows them.
var commandNames, clientNames = make(map[string]string), make(map[string]string)

// nameCommands fills them.
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

package proxy

import (
	"strings"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
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

package proxy

import (
	"slices"
	"sync"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/replies"
)

// commandReply is COMMAND and its subcommands: enough for redis-cli to start and for
// clients that look up arities and key positions.
func commandReply(s *session, args [][]byte) resp.Reply {
	if len(args) == 1 {
		return describeAll()
	}
	switch {
	case grammar.Is(args[1], "count"):
		if len(args) != 2 {
			return wrongArity("command|count")
		}
		return resp.Int(int64(len(specs())))
	case grammar.Is(args[1], "docs"):
		return resp.Reply{Kind: resp.KindMap}
	case grammar.Is(args[1], "info"):
		if len(args) == 2 {
			return describeAll()
		}
		items := make([]resp.Reply, len(args)-2)
		for i, name := range args[2:] {
			items[i] = describeNamed(name)
		}
		return resp.Array(items...)
	case grammar.Is(args[1], "list") && len(args) == 2:
		var names []string
		for _, c := range specs() {
			names = append(names, c.Name)
		}
		return resp.Array(resp.Bulks(names...)...)
	case grammar.Is(args[1], "getkeys"):
		if len(args) < 4 {
			return wrongArity("command|getkeys")
		}
		return getKeys(args[2:])
	case grammar.Is(args[1], "help"):
		return help("COMMAND <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
			"(no subcommand)", "    Return details about all commands of redlockd.",
			"COUNT", "    Return the total number of commands of redlockd.",
			"LIST", "    Return a list of all commands of redlockd.",
			"INFO [<command-name> ...]", "    Return details about multiple commands.",
			"GETKEYS <full-command>", "    Return the keys from a full command.",
			"HELP", "    Prints this help.")
	}
	return unknownSubcommand("command", args[1])
}

// commandNow is COMMAND outside of MULTI.
func commandNow(s *session, args [][]byte) {
	if len(args) > 1 {
		s.answerLocal(localCommand{run: commandReply}, args)
		return
	}
	encoded := describedAll(s.protocol())
	s.pipe.Add(&replies.Slot{Encoded: encoded, Silent: s.mode.silent(), Size: len(encoded)})
}

// specs returns all commands, those of locks and those of the connection.
func specs() []commands.Spec {
	list := slices.Clone(commands.Table())
	for i := range localCommands {
		list = append(list, localCommands[i].spec())
	}
	return list
}

// describeAll returns COMMAND's reply, which is long: it is made once, and all sessions
// share it. describedAll returns the same, encoded for protocol 2 or 3.
var (
	describeAll  func() resp.Reply
	describedAll func(proto int) []byte
)

func init() {
	describeAll = sync.OnceValue(func() resp.Reply {
		var items []resp.Reply
		for _, c := range specs() {
			items = append(items, describeSpec(c))
		}
		return resp.Array(items...)
	})
	encoded := func(proto int) func() []byte {
		return sync.OnceValue(func() []byte { return resp.Append(nil, describeAll(), proto) })
	}
	two, three := encoded(2), encoded(3)
	describedAll = func(proto int) []byte {
		if proto == 3 {
			return three()
		}
		return two()
	}
}

func describeNamed(name []byte) resp.Reply {
	for _, c := range specs() {
		if grammar.Is(name, c.Name) {
			return describeSpec(c)
		}
	}
	return resp.Null
}

// describeSpec returns the ten fields of Redis 7; the last four are empty.
func describeSpec(c commands.Spec) resp.Reply {
	flags := help(c.Flags...)
	flags.Kind = resp.KindSet
	empty := resp.Reply{Kind: resp.KindSet}
	return resp.Array(
		resp.Bulk(c.Name), resp.Int(int64(c.Arity)), flags,
		resp.Int(int64(c.First)), resp.Int(int64(c.Last)), resp.Int(int64(c.Step)),
		empty, empty, empty, resp.Array(),
	)
}

// getKeys is COMMAND GETKEYS.
func getKeys(args [][]byte) resp.Reply {
	i := slices.IndexFunc(specs(), func(c commands.Spec) bool { return grammar.Is(args[0], c.Name) })
	if i < 0 {
		return resp.Error("ERR Invalid command specified")
	}
	c := specs()[i]
	if !commands.Takes(c.Arity, len(args)) {
		return resp.Error("ERR Invalid number of arguments specified for command")
	}
	keys, ok := c.KeysOf(args)
	switch {
	case !ok:
		return resp.Error("ERR Invalid arguments specified for command")
	case len(keys) == 0:
		return resp.Error("ERR The command has no key arguments")
	}
	items := make([]resp.Reply, len(keys))
	for i, key := range keys {
		items[i] = resp.Bulk(string(key))
	}
	return resp.Array(items...)
}

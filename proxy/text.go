package proxy

import (
	"strings"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/commands/grammar"
)

// clean returns at most most bytes of b, fit for an error line: control
// characters become spaces.
func clean(b []byte, most int) string {
	if most < len(b) {
		b = b[:max(most, 0)]
	}
	out := make([]byte, len(b))
	for i, c := range b {
		if c < ' ' || c == 0x7f {
			c = ' '
		}
		out[i] = c
	}
	return string(out)
}

// lower writes b in lower case into buf and returns that; names longer than
// any command are cut, and so match none.
func lower(buf []byte, b []byte) []byte {
	n := min(len(b), len(buf))
	for i, c := range b[:n] {
		buf[i] = grammar.Lower(c)
	}
	return buf[:n]
}

func wrongArity(name string) commands.Reply {
	return commands.Error("ERR wrong number of arguments for '" + name + "' command")
}

func unknownSubcommand(command string, sub []byte) commands.Reply {
	return commands.Error("ERR unknown subcommand '" + clean(sub, 128) + "'. Try " + strings.ToUpper(command) + " HELP.")
}

var (
	errSyntax  = commands.Error(grammar.ErrSyntax)
	errInteger = commands.Error(grammar.ErrNotInteger)
)

// status is a simple string reply.
func status(s string) commands.Reply { return commands.Reply{Kind: commands.KindStatus, Text: s} }

// bulks returns the strings as bulk replies.
func bulks(texts ...string) []commands.Reply {
	items := make([]commands.Reply, len(texts))
	for i, s := range texts {
		items[i] = commands.Bulk(s)
	}
	return items
}

// help is the reply of a HELP subcommand.
func help(lines ...string) commands.Reply {
	items := make([]commands.Reply, len(lines))
	for i, s := range lines {
		items[i] = status(s)
	}
	return commands.Array(items...)
}

// good reports whether a name has only characters Redis allows in client names.
func good(name []byte) bool {
	for _, c := range name {
		if c < '!' || c > '~' {
			return false
		}
	}
	return true
}

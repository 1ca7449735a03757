package proxy

import (
	"strings"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
)

// lower writes b in lower case into buf and returns that part of buf. Names longer than
// buf are cut, and so match no command.
func lower(buf []byte, b []byte) []byte {
	n := min(len(b), len(buf))
	for i, c := range b[:n] {
		buf[i] = grammar.Lower(c)
	}
	return buf[:n]
}

func wrongArity(name string) resp.Reply {
	return resp.Error("ERR wrong number of arguments for '" + name + "' command")
}

func unknownSubcommand(command string, sub []byte) resp.Reply {
	return resp.Error("ERR unknown subcommand '" + resp.Clean(sub, 128) + "'. Try " + strings.ToUpper(command) + " HELP.")
}

var (
	errSyntax  = resp.Error(grammar.ErrSyntax)
	errInteger = resp.Error(grammar.ErrNotInteger)
)

// help returns the reply of a HELP subcommand.
func help(lines ...string) resp.Reply {
	items := make([]resp.Reply, len(lines))
	for i, s := range lines {
		items[i] = resp.Status(s)
	}
	return resp.Array(items...)
}

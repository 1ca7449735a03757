package proxy

import (
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
)

// slowlogCommand is SLOWLOG GET [count], LEN, RESET and HELP.
func slowlogCommand(s *session, args [][]byte) resp.Reply {
	log := &s.srv.slow
	switch {
	case grammar.Is(args[1], "get") && len(args) <= 3:
		return slowest(log, args[2:])
	case grammar.Is(args[1], "len") && len(args) == 2:
		return resp.Int(int64(log.Len()))
	case grammar.Is(args[1], "reset") && len(args) == 2:
		log.Reset()
		return resp.OK
	case grammar.Is(args[1], "help") && len(args) == 2:
		return slowlogHelp
	}
	return unknownSubcommand("slowlog", args[1])
}

var slowlogHelp = help(
	"SLOWLOG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
	"GET [<count>]",
	"    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
	"    Entries are made of:",
	"    id, timestamp, time in microseconds, arguments array, client IP and port,",
	"    client name. Tokens are replaced.",
	"LEN",
	"    Return the length of the slowlog.",
	"RESET",
	"    Reset the slowlog.",
	"HELP",
	"    Prints this help.",
)

func slowest(l *history.SlowLog, count [][]byte) resp.Reply {
	n := int64(10)
	if len(count) > 0 {
		var ok bool
		if n, ok = resp.ParseInt(count[0]); !ok || n < -1 {
			return resp.Error("ERR count should be greater than or equal to -1")
		}
	}
	if n < 0 || n > history.MaxSlow {
		n = history.MaxSlow
	}
	items := []resp.Reply{}
	for _, e := range l.Newest(int(n)) {
		items = append(items, resp.Array(resp.Int(e.ID), resp.Int(e.At.Unix()), resp.Int(e.Took.Microseconds()),
			resp.Array(resp.Bulks(e.Args...)...), resp.Bulk(e.Holder.Address), resp.Bulk(e.Holder.Name)))
	}
	return resp.Array(items...)
}

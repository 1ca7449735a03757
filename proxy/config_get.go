package proxy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/history"
	"github.com/redlockd/redlockd/quorum"
)

// configCommand is CONFIG. GET answers, because clients ask it before they lock; SET and
// REWRITE are refused, because redlockd is configured by its file.
func configCommand(s *session, args [][]byte) resp.Reply {
	if refusal := configArity(args); refusal != nil {
		return *refusal
	}
	switch {
	case grammar.Is(args[1], "get"):
		return configGet(s.srv, args[2:])
	case grammar.Is(args[1], "resetstat"):
		return resp.OK
	case grammar.Is(args[1], "set"):
		return resp.Error("ERR redlockd is configured by its file; CONFIG SET is not supported")
	case grammar.Is(args[1], "rewrite"):
		return resp.Error("ERR redlockd is configured by its file; CONFIG REWRITE is not supported")
	case grammar.Is(args[1], "help"):
		return help("CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
			"GET <pattern>", "    Return parameters matching the glob-like <pattern> and their values.",
			"RESETSTAT", "    Accepted without effect.",
			"HELP", "    Prints this help.")
	}
	return unknownSubcommand("config", args[1])
}

// configArity returns the error for a wrong number of arguments, or nil. It is checked
// before the subcommand is carried out or queued.
func configArity(args [][]byte) *resp.Reply {
	switch {
	case grammar.Is(args[1], "get") && len(args) < 3:
		return new(wrongArity("config|get"))
	case grammar.Is(args[1], "resetstat") && len(args) != 2:
		return new(wrongArity("config|resetstat"))
	}
	return nil
}

// configGet answers with the settings that a pattern matches, each once, in the order of
// their names.
func configGet(s *Server, patterns [][]byte) resp.Reply {
	items := []resp.Reply{}
	for _, kv := range settings(s) {
		i := slices.IndexFunc(patterns, func(p []byte) bool { return resp.Glob(strings.ToLower(string(p)), kv[0]) })
		switch {
		case i < 0:
		case grammar.Is(patterns[i], kv[0]): // in the letter case in which it was asked for
			items = append(items, resp.Bulks(string(patterns[i]), kv[1])...)
		default:
			items = append(items, resp.Bulks(kv[0], kv[1])...)
		}
	}
	return resp.Reply{Kind: resp.KindMap, Items: items}
}

// settings returns Redis's parameters with the values that fit redlockd, sorted. Eviction
// and saving are not its business, so it reports what satisfies clients: with a timeout
// of 0 they use their own keep-alive interval, a minute or less, which is far below
// idle_timeout.
func settings(s *Server) [][2]string {
	return [][2]string{
		{"appendfsync", "everysec"},
		{"appendonly", "no"},
		{"bind", "*"},
		{"cluster-enabled", "no"},
		{"databases", strconv.Itoa(quorum.Databases)},
		{"maxclients", strconv.Itoa(s.cfg().MaxClients)},
		{"maxmemory", "0"},
		{"maxmemory-policy", "noeviction"},
		{"notify-keyspace-events", ""},
		{"port", strconv.FormatInt(s.port.Load(), 10)},
		{"proto-max-bulk-len", strconv.Itoa(s.cfg().MaxCommandBytes)},
		{"replica-read-only", "yes"},
		{"save", ""},
		{"slave-read-only", "yes"},
		{"slowlog-log-slower-than", strconv.FormatInt(s.cfg().SlowerThan.Microseconds(), 10)},
		{"slowlog-max-len", strconv.Itoa(history.MaxSlow)},
		{"tcp-keepalive", "15"},
		{"timeout", "0"},
	}
}

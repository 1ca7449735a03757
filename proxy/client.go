package proxy

import (
	"slices"
	"strings"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
	"github.com/redlockd/redlockd/proxy/notify"
)

// clientCommands are the subcommands of CLIENT.
func clientCommands() subcommands {
	return subcommands{
		"id":           {arity: 2, run: func(s *session, _ [][]byte) resp.Reply { return resp.Int(s.id) }, access: everybody},
		"getname":      {arity: 2, run: clientGetName, access: everybody},
		"setname":      {arity: 3, run: clientSetName, access: everybody},
		"setinfo":      {arity: 4, run: clientSetInfo, access: everybody},
		"info":         {arity: 2, run: func(s *session, _ [][]byte) resp.Reply { return resp.Verbatim(describe(s)) }, access: everybody},
		"list":         {arity: -2, run: clientList, access: admin},
		"reply":        {arity: 3, run: clientReply, access: everybody, notInMulti: true},
		"no-evict":     {arity: 3, run: onOff, access: everybody},
		"no-touch":     {arity: 3, run: onOff, access: everybody},
		"capa":         {arity: -3, run: always(resp.OK), access: admin}, // Valkey's: what the client could follow, if told to
		"tracking":     {arity: -3, run: clientTracking, access: everybody},
		"caching":      {arity: 3, run: clientCaching, access: everybody},
		"trackinginfo": {arity: 2, run: clientTrackingInfo, access: everybody},
		"getredir":     {arity: 2, run: clientGetRedir, access: everybody},
		"kill":         {arity: -3, run: always(resp.Error("ERR redlockd does not let clients kill one another")), access: admin},
		"pause":        {arity: -3, run: always(resp.Error("ERR redlockd does not let clients pause one another")), access: admin},
		"unpause":      {arity: 2, run: always(resp.OK), access: everybody},
		"help":         {arity: 2, run: always(clientHelp), access: everybody},
	}
}

var clientHelp = help(
	"CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
	"GETNAME", "    Return the name of the current connection.",
	"GETREDIR", "    Return the client ID we are redirecting to when tracking is enabled.",
	"ID", "    Return the ID of the current connection.",
	"INFO", "    Return information about the current client connection.",
	"LIST [options ...]", "    Return information about client connections.",
	"NO-EVICT (ON|OFF)", "    Accepted; redlockd evicts nothing.",
	"REPLY (ON|OFF|SKIP)", "    Control the replies sent to the current connection.",
	"SETINFO <option> <value>", "    Set client meta attr.",
	"SETNAME <name>", "    Assign the name <name> to the current connection.",
	"TRACKING (ON OPTIN|OFF)", "    Accepted without effect: redlockd sends no invalidations.",
	"HELP", "    Prints this help.",
)

func clientCommand(s *session, args [][]byte) resp.Reply { return runSubcommand(s, "client", args) }

// clientQueues is why MULTI may not queue a CLIENT, or nil.
func clientQueues(args [][]byte) *resp.Reply {
	c, refusal := subcommandOf("client", args)
	if refusal == nil && c.notInMulti {
		return &errNotInMulti
	}
	return refusal
}

func clientGetName(s *session, _ [][]byte) resp.Reply {
	s.clientInfo.mu.Lock()
	defer s.clientInfo.mu.Unlock()
	if s.clientInfo.name == "" {
		return resp.Null
	}
	return resp.Bulk(s.clientInfo.name)
}

func clientSetName(s *session, args [][]byte) resp.Reply {
	if !resp.Printable(args[2]) || len(args[2]) > maxName {
		return errClientName
	}
	s.rename(string(args[2]))
	return resp.OK
}

func clientSetInfo(s *session, args [][]byte) resp.Reply {
	sh := s.clientInfo
	sh.mu.Lock()
	defer sh.mu.Unlock()
	field, name := &sh.libName, "lib-name"
	switch {
	case grammar.Is(args[2], "lib-name"):
	case grammar.Is(args[2], "lib-ver"):
		field, name = &sh.libVer, "lib-ver"
	default:
		return resp.Error("ERR Unrecognized option '" + resp.Clean(args[2], 128) + "'")
	}
	if !resp.Printable(args[3]) || len(args[3]) > maxName {
		return resp.Error("ERR " + name + " cannot contain spaces, newlines or special characters.")
	}
	*field = string(args[3])
	return resp.OK
}

// clientList is CLIENT LIST [TYPE type | ID id ...].
func clientList(s *session, args [][]byte) resp.Reply {
	var ids map[int64]bool
	list := s.srv.clients()
	switch {
	case len(args) == 2:
	case grammar.Is(args[2], "type") && len(args) == 4:
		switch kind := strings.ToLower(string(args[3])); kind {
		case "normal", "pubsub":
			list = slices.DeleteFunc(list, func(o *session) bool { return o.subscriber() != (kind == "pubsub") })
		case "master", "replica", "slave":
			list = nil
		default:
			return resp.Error("ERR Unknown client type '" + resp.Clean(args[3], 128) + "'")
		}
	case grammar.Is(args[2], "id") && len(args) > 3:
		ids = make(map[int64]bool)
		for _, a := range args[3:] {
			id, ok := resp.ParseInt(a)
			if !ok {
				return resp.Error("ERR Invalid client ID")
			}
			ids[id] = true
		}
	default:
		return errSyntax
	}
	slices.SortFunc(list, func(a, b *session) int { return int(a.id - b.id) })
	var b strings.Builder
	for _, o := range list {
		if ids == nil || ids[o.id] {
			b.WriteString(describe(o))
		}
	}
	return resp.Verbatim(b.String())
}

// subscriber reports whether the session was subscribed when its last command
// came. Safe for concurrent use.
func (s *session) subscriber() bool {
	s.clientInfo.mu.Lock()
	defer s.clientInfo.mu.Unlock()
	return s.clientInfo.subs != [notify.Kinds]int{}
}

// clientReply switches replies off and on. Only ON has a reply, also behind
// SKIP; those of commands that were read before keep what was in force then.
func clientReply(s *session, args [][]byte) resp.Reply {
	switch {
	case grammar.Is(args[2], "on"):
		s.off, s.skip = false, false
	case grammar.Is(args[2], "off"):
		s.off = true
	case grammar.Is(args[2], "skip"):
		s.skip, s.skipNext = true, !s.off
	default:
		return errSyntax
	}
	return resp.OK
}

func onOff(_ *session, args [][]byte) resp.Reply {
	if grammar.Is(args[2], "on") || grammar.Is(args[2], "off") {
		return resp.OK
	}
	return errSyntax
}

// clientTracking accepts OPTIN, in which nothing is cached until the client
// asks, because rueidis sends it with every connection. In the other modes
// the client would keep what it reads until an invalidation that never comes.
func clientTracking(s *session, args [][]byte) resp.Reply {
	if grammar.Is(args[2], "off") && len(args) == 3 {
		s.optIn = false
		return resp.OK
	}
	if !grammar.Is(args[2], "on") {
		return errSyntax
	}
	optIn := false
	for _, a := range args[3:] {
		switch {
		case grammar.Is(a, "optin"):
			optIn = true
		case grammar.Is(a, "noloop"):
		case grammar.Is(a, "optout"), grammar.Is(a, "bcast"), grammar.Is(a, "redirect"), grammar.Is(a, "prefix"):
			return errTracking
		default:
			return errSyntax
		}
	}
	if !optIn {
		return errTracking
	}
	s.optIn = true
	return resp.OK
}

var errTracking = resp.Error("ERR redlockd sends no invalidations, so it takes CLIENT TRACKING ON only with OPTIN")

func clientCaching(s *session, args [][]byte) resp.Reply {
	switch {
	case !grammar.Is(args[2], "yes") && !grammar.Is(args[2], "no"):
		return errSyntax
	case !s.optIn:
		return resp.Error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	case grammar.Is(args[2], "no"):
		return resp.Error("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
	}
	return resp.Error("ERR redlockd sends no invalidations, so nothing it answers may be cached")
}

func clientTrackingInfo(s *session, _ [][]byte) resp.Reply {
	flags, redirect := resp.Bulks("off"), int64(-1)
	if s.optIn {
		flags, redirect = resp.Bulks("on", "optin"), 0
	}
	return resp.Reply{Kind: resp.KindMap, Items: []resp.Reply{
		resp.Bulk("flags"), {Kind: resp.KindSet, Items: flags},
		resp.Bulk("redirect"), resp.Int(redirect),
		resp.Bulk("prefixes"), resp.Array(),
	}}
}

func clientGetRedir(s *session, _ [][]byte) resp.Reply {
	if s.optIn {
		return resp.Int(0)
	}
	return resp.Int(-1)
}

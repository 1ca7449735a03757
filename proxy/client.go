package proxy

import (
	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
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
		"capa":         {arity: -3, run: always(resp.OK), access: admin}, // Valkey's: which redirections the client could follow
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

// refuseClientInMulti returns the error with which MULTI refuses a CLIENT command, or
// nil.
func refuseClientInMulti(args [][]byte) *resp.Reply {
	c, refusal := subcommandOf("client", args)
	if refusal == nil && c.notInMulti {
		return &errNotInMulti
	}
	return refusal
}

func clientGetName(s *session, _ [][]byte) resp.Reply {
	if name := s.clientInfo.state().name; name != "" {
		return resp.Bulk(name)
	}
	return resp.Null
}

func clientSetName(s *session, args [][]byte) resp.Reply {
	if !resp.Printable(args[2]) || len(args[2]) > maxName {
		return errClientName
	}
	s.rename(string(args[2]))
	return resp.OK
}

func clientSetInfo(s *session, args [][]byte) resp.Reply {
	name := "lib-name"
	switch {
	case grammar.Is(args[2], name):
	case grammar.Is(args[2], "lib-ver"):
		name = "lib-ver"
	default:
		return resp.Error("ERR Unrecognized option '" + resp.Clean(args[2], 128) + "'")
	}
	if !resp.Printable(args[3]) || len(args[3]) > maxName {
		return resp.Error("ERR " + name + " cannot contain spaces, newlines or special characters.")
	}
	s.clientInfo.change(func(c *clientState) {
		if name == "lib-ver" {
			c.libVer = string(args[3])
			return
		}
		c.libName = string(args[3])
	})
	return resp.OK
}

// clientReply switches replies off and on. Only ON has a reply, also behind SKIP.
// Commands that were read before keep the mode that was in force then.
func clientReply(s *session, args [][]byte) resp.Reply {
	switch {
	case grammar.Is(args[2], "on"):
		s.mode.on()
	case grammar.Is(args[2], "off"):
		s.mode.off = true
	case grammar.Is(args[2], "skip"):
		s.mode.skipOne()
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

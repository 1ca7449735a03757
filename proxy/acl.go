package proxy

import (
	"slices"
	"strings"

	"github.com/redlockd/redlockd/commands"
	"github.com/redlockd/redlockd/internal/resp"
)

// aclCommands are the subcommands of ACL.
func aclCommands() subcommands {
	return subcommands{
		"whoami":  {arity: 2, run: func(s *session, _ [][]byte) resp.Reply { return resp.Bulk(s.user.Name()) }, access: everybody},
		"cat":     {arity: -2, run: aclCat, access: admin},
		"list":    {arity: 2, run: aclList, access: admin},
		"users":   {arity: 2, run: aclUsers, access: admin},
		"getuser": {arity: 3, run: aclGetUser, access: admin},
		"help": {arity: 2, access: everybody, run: always(help("ACL <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
			"CAT [<category>]", "    List all operations that users may have, or the commands that may mean one.",
			"GETUSER <username>", "    Get the user's details.",
			"LIST", "    Show users details in config file format.",
			"USERS", "    List all the registered usernames.",
			"WHOAMI", "    Return the current connection username.",
			"HELP", "    Prints this help."))},
		"setuser": {arity: -3}, "deluser": {arity: -3}, "genpass": {arity: -2}, "log": {arity: -2},
		"load": {arity: 2}, "save": {arity: 2}, "dryrun": {arity: -4},
	}
}

// aclCommand is ACL. It changes nothing, because users are in the configuration.
func aclCommand(s *session, args [][]byte) resp.Reply { return runSubcommand(s, "acl", args) }

func aclUsers(s *session, _ [][]byte) resp.Reply {
	return resp.Array(resp.Bulks(s.logins.users.Names()...)...)
}

// aclCat is ACL CAT. Its categories are the operations.
func aclCat(s *session, args [][]byte) resp.Reply {
	if len(args) > 3 {
		return wrongArity("acl|cat")
	}
	if len(args) == 2 {
		return resp.Array(resp.Bulks(commands.OperationNames()...)...)
	}
	op, ok := commands.Operation(strings.ToLower(string(args[2])))
	if !ok {
		return resp.Error("ERR Unknown category '" + resp.Clean(args[2], 128) + "'")
	}
	return resp.Array(resp.Bulks(mayMean(op)...)...)
}

// aclList is ACL LIST: a line for each user, in Redis's format.
func aclList(s *session, _ [][]byte) resp.Reply {
	var lines []string
	for _, name := range s.logins.users.Names() {
		u := s.logins.users[name]
		words := []string{"user", name, "on"}
		if u.Open() {
			words = append(words, "nopass")
		}
		for range u.Passwords() {
			words = append(words, hiddenPassword)
		}
		words = append(words, u.KeyRule())
		if !u.Unlimited() {
			words = append(words, "resetchannels")
		}
		words = append(words, u.ChannelRule(), u.OperationRule())
		lines = append(lines, strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " "))
	}
	return resp.Array(resp.Bulks(lines...)...)
}

// hiddenPassword stands where Redis shows a password's SHA-256, with which a reader could
// try out passwords offline.
const hiddenPassword = "#(hidden)"

func aclGetUser(s *session, args [][]byte) resp.Reply {
	u := s.logins.users[string(args[2])]
	if u == nil {
		return resp.Null
	}
	flags, passwords := []string{"on"}, []string{}
	if u.Open() {
		flags = append(flags, "nopass")
	}
	for range u.Passwords() {
		passwords = append(passwords, hiddenPassword[1:])
	}
	set := resp.Array(resp.Bulks(flags...)...)
	set.Kind = resp.KindSet
	return resp.Reply{Kind: resp.KindMap, Items: []resp.Reply{
		resp.Bulk("flags"), set,
		resp.Bulk("passwords"), resp.Array(resp.Bulks(passwords...)...),
		resp.Bulk("commands"), resp.Bulk(u.OperationRule()),
		resp.Bulk("keys"), resp.Bulk(u.KeyRule()),
		resp.Bulk("channels"), resp.Bulk(u.ChannelRule()),
		resp.Bulk("selectors"), resp.Array(),
	}}
}

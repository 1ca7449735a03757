package proxy

import (
	"strings"

	"github.com/redlockd/redlockd/commands"
)

// openTo are the commands of the connection that every user may send, with
// all their subcommands. They tell nothing of locks and change only the
// session.
var openTo = func() map[string]bool {
	m := make(map[string]bool)
	for name := range strings.FieldsSeq(`ping echo quit reset hello auth select info config command role time dbsize
		lastsave wait readonly readwrite asking cluster multi exec discard unwatch unsubscribe punsubscribe
		sunsubscribe`) {
		m[name] = true
	}
	return m
}()

// openSub are the subcommands, of those that are not open, that every user may
// send.
var openSub = map[string]map[string]bool{
	"client": {"id": true, "getname": true, "setname": true, "setinfo": true, "info": true, "reply": true,
		"no-evict": true, "no-touch": true, "tracking": true, "caching": true, "trackinginfo": true, "getredir": true,
		"unpause": true, "help": true},
	"acl":   {"whoami": true, "help": true},
	"locks": {"help": true},
}

// ofOneKey are the subcommands about the lock that they name.
var ofOneKey = map[string]commands.Operations{"locks|who": commands.MayRead, "locks|force": commands.MayRemove}

// forbidden is why the user may not send a command of the connection, in the
// order of Redis's checks, or "". What is not listed needs MayAdmin, so a
// command that is new is closed until somebody opens it.
func (u *user) forbidden(name string, args [][]byte) string {
	if u.all || openTo[name] {
		return ""
	}
	switch name {
	case "scan":
		// What is listed is of the user's own keys.
		return u.forbiddenKeys(name, commands.MayRead, nil)
	case "watch":
		return u.forbiddenKeys(name, commands.MayRead, args[1:])
	case "blpop", "brpop":
		return u.forbiddenKeys(name, commands.MayAcquire, args[1:len(args)-1])
	case "publish", "spublish":
		return forbiddenChannels(u.Channel, args[1:2])
	case "subscribe", "ssubscribe":
		return forbiddenChannels(u.Channel, args[1:])
	case "psubscribe":
		return forbiddenChannels(u.pattern, args[1:])
	}
	if len(args) > 1 {
		sub := strings.ToLower(clean(args[1], 32))
		if openSub[name][sub] || !knownSub(name, sub) {
			return ""
		}
		name += "|" + sub
		if name == "locks|list" {
			return u.forbiddenKeys(name, commands.MayRead, nil)
		}
		if needs, ok := ofOneKey[name]; ok && len(args) > 2 {
			return u.forbiddenKeys(name, needs, args[2:3])
		}
	}
	if u.May(commands.MayAdmin) {
		return ""
	}
	return commands.NoPermCommand(name)
}

// knownSub is whether a subcommand exists; one that does not is told so to
// everybody, as in Redis. It is true where that is not known.
func knownSub(name, sub string) bool {
	switch name {
	case "client":
		_, ok := clientCommands[sub]
		return ok
	case "acl":
		_, ok := aclCommands[sub]
		return ok
	}
	return true
}

func (u *user) forbiddenKeys(name string, needs commands.Operations, keys [][]byte) string {
	if !u.May(needs) {
		return commands.NoPermCommand(name)
	}
	for _, key := range keys {
		if !u.Key(string(key)) {
			return commands.NoPermKey
		}
	}
	return ""
}

func forbiddenChannels(may func(string) bool, names [][]byte) string {
	for _, name := range names {
		if !may(string(name)) {
			return commands.NoPermChannel
		}
	}
	return ""
}

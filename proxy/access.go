package proxy

import (
	"maps"
	"slices"
	"strings"

	"github.com/redlockd/redlockd/commands"
)

// access is what a user needs for a command of the connection; nothing is for
// everybody.
type access struct {
	needs commands.Operations
	// keys and channels are the arguments that name some.
	keys, channels places
	// patterns is whether the channels are patterns.
	patterns bool
}

// places are the arguments from the first to the one before the last that are
// left over: {1, 0} is all behind the name. The zero value is none.
type places struct{ from, over int }

func (p places) of(args [][]byte) [][]byte {
	if p.from == 0 || len(args) < p.from+p.over {
		return nil
	}
	return args[p.from : len(args)-p.over]
}

// accesses are the commands of the connection by name, and the subcommands
// where they differ, as "client|list". What is not listed needs MayAdmin, so a
// command that is new is closed until somebody opens it. ACL CAT tells it.
var accesses = func() map[string]access {
	m := map[string]access{
		// What is listed is of the user's own keys.
		"scan":       {needs: commands.MayRead},
		"keys":       {needs: commands.MayRead},
		"llen":       {needs: commands.MayRead, keys: places{1, 0}},
		"locks|list": {needs: commands.MayRead},
		// Who holds a lock is for MayAdmin, see describeHolder.
		"locks|who":   {needs: commands.MayRead, keys: places{2, 0}},
		"locks|force": {needs: commands.MayRemove, keys: places{2, 0}},
		"watch":       {needs: commands.MayRead, keys: places{1, 0}},
		"blpop":       {needs: commands.MayAcquire, keys: places{1, 1}},
		"brpop":       {needs: commands.MayAcquire, keys: places{1, 1}},
		"publish":     {channels: places{1, 1}},
		"spublish":    {channels: places{1, 1}},
		"subscribe":   {channels: places{1, 0}},
		"ssubscribe":  {channels: places{1, 0}},
		"psubscribe":  {channels: places{1, 0}, patterns: true},
	}
	// They tell nothing of locks and change only the session.
	for name := range strings.FieldsSeq(`ping echo quit reset hello auth select info config command role time dbsize
		lastsave wait readonly readwrite asking cluster multi exec discard unwatch unsubscribe punsubscribe
		sunsubscribe client|id client|getname client|setname client|setinfo client|info client|reply client|no-evict
		client|no-touch client|tracking client|caching client|trackinginfo client|getredir client|unpause client|help
		acl|whoami acl|help locks|help`) {
		m[name] = access{}
	}
	for name := range strings.FieldsSeq(`acl|cat acl|list acl|users acl|getuser client|list client|capa client|kill
		client|pause latency pubsub slowlog`) {
		m[name] = access{needs: commands.MayAdmin}
	}
	return m
}()

// containers are the commands whose subcommands differ, or are named by Redis.
var containers = map[string]bool{"client": true, "acl": true, "locks": true, "latency": true, "pubsub": true, "slowlog": true}

// mayMean lists the commands that may need one of the operations.
func mayMean(ops commands.Operations) []string {
	names := commands.MayMean(ops)
	for _, name := range slices.Sorted(maps.Keys(accesses)) {
		if accesses[name].needs&ops != 0 {
			names = append(names, name)
		}
	}
	return names
}

// forbidden is why the user may not send a command of the connection, in the
// order of Redis's checks, or "".
func (u *user) forbidden(name string, args [][]byte) string {
	if u.all {
		return ""
	}
	a, listed := accesses[name]
	if containers[name] && len(args) > 1 {
		sub := strings.ToLower(clean(args[1], 32))
		if !knownSub(name, sub) {
			return ""
		}
		name += "|" + sub
		if one, ok := accesses[name]; ok {
			a, listed = one, true
		}
	}
	if !listed {
		a.needs = commands.MayAdmin
	}
	if !u.May(a.needs) {
		return commands.NoPermCommand(name)
	}
	return u.forbiddenNames(a, args)
}

// forbiddenNames is why the user may not name what a command names, or "".
func (u *user) forbiddenNames(a access, args [][]byte) string {
	for _, key := range a.keys.of(args) {
		if !u.Key(string(key)) {
			return commands.NoPermKey
		}
	}
	may := u.Channel
	if a.patterns {
		may = u.pattern
	}
	for _, name := range a.channels.of(args) {
		if !may(string(name)) {
			return commands.NoPermChannel
		}
	}
	return ""
}

// knownSub reports whether a subcommand exists; one that does not is told so to
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

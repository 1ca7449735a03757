package script

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/redlockd/redlockd/commands/script/cjson"
	"github.com/redlockd/redlockd/commands/script/lua"
)

// globals are available to every script, besides KEYS and ARGV.
var globals = newGlobals()

func newGlobals() *lua.Globals {
	g := lua.NewGlobals(`bit cmsgpack struct `+cjson.Absent+`
		redis.set_repl redis.REPL_ALL redis.REPL_AOF redis.REPL_SLAVE redis.REPL_REPLICA redis.REPL_NONE
		redis.breakpoint redis.debug redis.acl_check_cmd redis.register_function redis.REDIS_VERSION
		redis.REDIS_VERSION_NUM`, "which no lock needs")
	g.Add(cjson.Name, jsonLibrary(), cjson.Constants())
	g.Add("redis", redisLibrary, map[string]value{"LOG_DEBUG": 0.0, "LOG_VERBOSE": 1.0, "LOG_NOTICE": 2.0, "LOG_WARNING": 3.0})
	return g
}

// jsonLibrary returns cjson's functions. A run notes that it decodes.
func jsonLibrary() map[string]lua.Function {
	all := cjson.Functions()
	decode := all["decode"]
	all["decode"] = func(l *lua.Run, args []value) []value {
		l.Host().(*run).space.decodes = true
		return decode(l, args)
	}
	return all
}

var redisLibrary = map[string]lua.Function{
	"call": func(l *lua.Run, args []value) []value {
		v, failure := runCommand(l.Host().(*run), args)
		if failure != "" {
			raise(l, failure)
		}
		return []value{v}
	},
	"pcall": func(l *lua.Run, args []value) []value {
		v, failure := runCommand(l.Host().(*run), args)
		if failure != "" {
			v = lua.Record(l.Budget, "err", failure)
		}
		return []value{v}
	},
	"error_reply": func(l *lua.Run, args []value) []value {
		text, ok := onlyText(l, args)
		if !ok {
			text = "ERR wrong number or type of arguments"
		} else {
			text = errorText(text)
		}
		return []value{lua.Record(l.Budget, "err", text)}
	},
	"status_reply": func(l *lua.Run, args []value) []value {
		text, ok := onlyText(l, args)
		if !ok {
			return []value{lua.Record(l.Budget, "err", "ERR wrong number or type of arguments")}
		}
		return []value{lua.Record(l.Budget, "ok", text)}
	},
	"sha1hex": func(l *lua.Run, args []value) []value {
		if len(args) != 1 {
			raise(l, "ERR wrong number of arguments")
		}
		sum := sha1.Sum([]byte(lua.StringArg(l, "sha1hex", args, 0)))
		return []value{hex.EncodeToString(sum[:])}
	},
	"log": func(l *lua.Run, args []value) []value {
		if len(args) < 2 {
			raise(l, "ERR redis.log() requires two arguments or more.")
		}
		if level, ok := args[0].(float64); !ok || level < 0 || level > 3 {
			lua.Refuse("calls redis.log with an unknown level")
		}
		return nil
	},
	"replicate_commands": func(*lua.Run, []value) []value { return []value{true} },
	"setresp": func(l *lua.Run, args []value) []value {
		if len(args) > 0 && l.Reveal(args[0]) != 2.0 || len(args) != 1 {
			lua.Refuse("calls redis.setresp with anything but 2")
		}
		return nil
	},
}

// onlyText returns the argument of a function that takes one string.
func onlyText(l *lua.Run, args []value) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	text, ok := l.Reveal(args[0]).(string)
	return text, ok && len(args) == 1
}

// raise raises the error reply of a Redis command as a Lua error.
func raise(l *lua.Run, failure string) { l.Raise(lua.Record(l.Budget, "err", failure)) }

// errorText returns the error that redis.error_reply makes of its argument: a text
// without a space counts as one without a code.
func errorText(text string) string {
	text = strings.TrimPrefix(text, "-")
	if !strings.Contains(text, " ") {
		return "ERR " + text
	}
	return text
}

// notKept tells by the command, or its first letters, what a script wants that redlockd does not
// keep, and which locks are made of it.
var notKept = []struct {
	commands []string
	text     string
}{
	{[]string{"ZADD", "ZREM", "ZSCORE", "ZCARD", "ZRANGE", "ZREVRANGE", "ZCOUNT", "ZINCRBY", "ZRANK"}, ": redlockd keeps no sorted sets (semaphores with leases, fair locks)"},
	{[]string{"SADD", "SREM", "SISMEMBER", "SCARD", "SMEMBERS"}, ": redlockd keeps no sets"},
	{[]string{"LINDEX", "LLEN", "LREM", "LRANGE", "LPOP", "RPOP"}, ": redlockd keeps no queues (fair locks)"},
	{[]string{"INCR", "DECR"}, ": redlockd keeps no counters (semaphores, latches, fencing tokens, rate limiters)"},
	{[]string{"HEXPIRE", "HPEXPIRE", "HTTL", "HPTTL"}, ": redlockd keeps no fields with TTLs of their own"},
}

func whatIsNotKept(name string) string {
	for _, k := range notKept {
		if slices.ContainsFunc(k.commands, func(c string) bool { return strings.HasPrefix(name, c) }) {
			return k.text
		}
	}
	return ""
}

// runCommand runs the command in redis.call's arguments; failure is Redis's error reply.
func runCommand(r *run, args []value) (v value, failure string) {
	if len(args) == 0 {
		return nil, "ERR Please specify at least one argument for this redis lib call"
	}
	for _, a := range args {
		if t := lua.TypeName(a); t != "string" && t != "number" {
			return nil, "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	name := strings.ToUpper(r.word(args[0]))
	c, ok := keyCommands[name]
	if !ok {
		lua.Refuse("calls %.40s, which is not a lock command%s", name, whatIsNotKept(name))
	}
	r.Step(20)
	if n := len(args); n < c.least || (c.most > 0 && n > c.most) {
		return nil, "ERR Wrong number of args calling Redis command from script"
	}
	return c.run(r, args)
}

package script

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
)

// redisTable is the global table redis.
func redisTable() *table {
	t := libraryTable("redis", redisLibrary)
	for level, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		t.rest[name] = float64(level)
	}
	return t
}

var redisLibrary = map[string]function{
	"call": func(r *run, args []value) []value {
		v, failure := r.command(args)
		if failure != "" {
			r.failAs(failure)
		}
		return one(v)
	},
	"pcall": func(r *run, args []value) []value {
		v, failure := r.command(args)
		if failure != "" {
			return one(oneField(r.budget, "err", failure))
		}
		return one(v)
	},
	"error_reply": func(r *run, args []value) []value {
		if text, ok := r.reveal(arg(args, 0)).(string); ok && len(args) == 1 {
			return one(oneField(r.budget, "err", errorText(text)))
		}
		return one(oneField(r.budget, "err", "ERR wrong number or type of arguments"))
	},
	"status_reply": func(r *run, args []value) []value {
		if text, ok := r.reveal(arg(args, 0)).(string); ok && len(args) == 1 {
			return one(oneField(r.budget, "ok", text))
		}
		return one(oneField(r.budget, "err", "ERR wrong number or type of arguments"))
	},
	"sha1hex": func(r *run, args []value) []value {
		if len(args) != 1 {
			r.failAs("ERR wrong number of arguments")
		}
		sum := sha1.Sum([]byte(r.stringArg("sha1hex", args, 0)))
		return one(hex.EncodeToString(sum[:]))
	},
	"log": func(r *run, args []value) []value {
		if len(args) < 2 {
			r.failAs("ERR redis.log() requires two arguments or more.")
		}
		if level, ok := args[0].(float64); !ok || level < 0 || level > 3 {
			refuse("calls redis.log with an unknown level")
		}
		return nil
	},
	"replicate_commands": func(*run, []value) []value { return one(true) },
	"setresp": func(r *run, args []value) []value {
		if v := r.reveal(arg(args, 0)); len(args) != 1 || v != 2.0 {
			refuse("calls redis.setresp with anything but 2")
		}
		return nil
	},
}

// errorText is what redis.error_reply makes of its argument: a text without
// any space is taken for a text without a code.
func errorText(text string) string {
	text = strings.TrimPrefix(text, "-")
	if !strings.Contains(text, " ") {
		return "ERR " + text
	}
	return text
}

// command carries out redis.call's arguments; failure is Redis's error reply.
func (r *run) command(args []value) (v value, failure string) {
	if len(args) == 0 {
		return nil, "ERR Please specify at least one argument for this redis lib call"
	}
	for _, a := range args {
		if t := typeName(a); t != "string" && t != "number" {
			return nil, "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	name := strings.ToUpper(r.word(args[0]))
	c, ok := keyCommands[name]
	if !ok {
		refuse("calls %.40s, which is not a lock command", name)
	}
	r.step(20)
	if n := len(args); n < c.least || (c.most > 0 && n > c.most) {
		return nil, "ERR Wrong number of args calling Redis command from script"
	}
	return c.run(r, args)
}

// word is an argument that has to be known: a command's name, an option.
func (r *run) word(v value) string {
	if f, ok := v.(float64); ok {
		return formatNumber(f, 17)
	}
	s := r.text(v)
	r.step(1 + len(s)/16)
	return s
}

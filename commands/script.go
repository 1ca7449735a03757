package commands

import (
	"errors"
	"strings"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/commands/script"
	"github.com/redlockd/redlockd/internal/resp"
)

// eval is EVAL and EVAL_RO. The script counts as loaded afterwards.
func eval(c call) Request {
	keys, args, refused := scriptArgs(c)
	if refused != "" {
		return refuse(refused)
	}
	sha, err := c.in.scripts.Load(c.arg(1))
	if err != nil {
		return refuse(oneLine(err.Error()))
	}
	return runScript(c, sha, keys, args)
}

// evalsha is EVALSHA and EVALSHA_RO.
func evalsha(c call) Request {
	// Redis looks at the number of keys only when this can be a SHA1.
	if len(c.args[1]) != 40 {
		return refuse(script.ErrNoScript.Error())
	}
	keys, args, refused := scriptArgs(c)
	if refused != "" {
		return refuse(refused)
	}
	return runScript(c, c.arg(1), keys, args)
}

// evalInExec and evalshaInExec are EVAL and EVALSHA in a transaction of several
// commands.
func evalInExec(c call) (sc script.Command, refused string) {
	if sc, refused = evalshaInExec(c); refused != "" {
		return sc, refused
	}
	sha, err := c.in.scripts.Load(c.arg(1))
	if err != nil {
		return sc, oneLine(err.Error())
	}
	sc.SHA = sha
	return sc, ""
}

func evalshaInExec(c call) (sc script.Command, refused string) {
	sc.SHA = c.arg(1)
	sc.Keys, sc.Args, refused = scriptArgs(c)
	return sc, refused
}

// notBeside is Spec.inExec of commands that cannot be a part of a transaction of several.
func notBeside(c call) (script.Command, string) { return script.Command{}, notInExec(c.spec.Name) }

// runScript returns the request of a loaded script.
func runScript(c call, sha string, keys, args []string) Request {
	m, err := meaningWith(c, sha, keys, args)
	if err != nil {
		return notUnderstood(c, err)
	}
	return requestFor(c, m)
}

// notUnderstood returns the request of a script that has no meaning, or none before keys
// are listed.
func notUnderstood(c call, err error) Request {
	var asks *script.NeedsKeysError
	if errors.As(err, &asks) {
		return sweeps(c, asks)
	}
	return refuse(scriptError(err))
}

// scriptArgs parses numkeys, the keys and the arguments.
func scriptArgs(c call) (keys, args []string, refused string) {
	n, ok := resp.ParseInt(c.args[2])
	rest := c.args[3:]
	switch {
	case !ok:
		return nil, nil, errNotInteger
	case n > int64(len(rest)):
		return nil, nil, errManyKeys
	case n < 0:
		return nil, nil, errNegativeKeys
	}
	words := texts(rest)
	return words[:n:n], words[n:], ""
}

// texts converts the words to strings, with one allocation for their bytes.
func texts(words [][]byte) []string {
	size := 0
	for _, word := range words {
		size += len(word)
	}
	var b strings.Builder
	b.Grow(size)
	for _, word := range words {
		b.Write(word)
	}
	whole, list := b.String(), make([]string, len(words))
	for i, word := range words {
		list[i], whole = whole[:len(word)], whole[len(word):]
	}
	return list
}

func scriptError(err error) string {
	var refused *script.RefusedError
	if errors.As(err, &refused) {
		return notALockScript(refused.Did)
	}
	return oneLine(err.Error())
}

func scriptLoad(c call) Request {
	sha, err := c.in.scripts.Load(c.arg(2))
	if err != nil {
		return refuse(oneLine(err.Error()))
	}
	return answer(resp.Bulk(sha))
}

func scriptExists(c call) Request {
	items := make([]resp.Reply, 0, len(c.args)-2)
	for _, sha := range c.args[2:] {
		known := int64(0)
		if c.in.scripts.Exists(string(sha)) {
			known = 1
		}
		items = append(items, resp.Int(known))
	}
	return answer(resp.Array(items...))
}

func scriptFlush(c call) Request {
	if len(c.args) > 3 || (len(c.args) == 3 && !grammar.Is(c.args[2], "sync") && !grammar.Is(c.args[2], "async")) {
		return refuse(errFlushMode)
	}
	c.in.scripts.Flush()
	return answer(resp.OK)
}

// scriptKill is SCRIPT KILL. There is never a running script to kill.
func scriptKill(call) Request { return refuse(errNotBusy) }

func scriptDebug(call) Request { return refuse(errDebug) }

func scriptHelp(call) Request {
	lines := []string{
		"SCRIPT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		"EXISTS <sha1> [<sha1> ...]",
		"    Return information about the existence of the scripts in the script cache.",
		"FLUSH [ASYNC|SYNC]",
		"    Flush the Lua scripts cache.",
		"KILL",
		"    Kill the currently executing Lua script.",
		"LOAD <script>",
		"    Load a script into the scripts cache without executing it.",
		"HELP",
		"    Prints this help.",
	}
	items := make([]resp.Reply, len(lines))
	for i, line := range lines {
		items[i] = resp.Status(line)
	}
	return answer(resp.Array(items...))
}

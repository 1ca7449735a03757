package cluster

import (
	"strings"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/mark"
)

// keyRight begins the name of a right to a key, as in ACL SETUSER. Only the right to
// ChangeKey is probed: the mark's shows anyway, and the locks' names are not known.
const keyRight = "~"

// noKey is a key that redlockd has the right to, as it has to the mark, and that nobody has.
const noKey = mark.Key + ":none"

// probes are commands that redlockd uses on a master, in a form that changes nothing there,
// each with the name of the right to it. NX and XX together are a syntax error.
var probes = [][2]string{
	{"set", "SET " + noKey + " x NX XX"},
	{"del", "DEL " + noKey},
	{"pttl", "PTTL " + noKey},
	{"pexpireat", "PEXPIREAT " + noKey + " 1"},
	{"pexpiretime", "PEXPIRETIME " + noKey}, // since Redis 7
	{"eval", "EVAL return 0"},               // the script "return", without keys
	{"evalsha", "EVALSHA " + strings.Repeat("0", 40) + " 0"},
	{"mget", "MGET " + noKey},
	{"scan", "SCAN 0 COUNT 1"},
	{"dbsize", "DBSIZE"},
	{"config|get", "CONFIG GET appendfsync"},
	{keyRight + ChangeKey, "SET " + ChangeKey + " x NX XX"},
}

// denied reports whether an answer refuses the command that a right is for, or if it is a
// right to a key, that key.
func denied(right, text string) bool {
	isKey := strings.HasPrefix(right, keyRight)
	return strings.HasPrefix(text, "NOPERM") && strings.Contains(text, "permissions to run") != isKey ||
		strings.Contains(text, "unknown command") && !isKey
}

// warnOfRights warns about rights that redlockd lacks on the master, once for each set of them;
// without the warning, many would show only in locks that fail. docs/acl.md says what
// each is for.
func (mon *monitor) warnOfRights(c *connection) error {
	var names, lacking []string
	var commands []rueidis.Completed
	for _, p := range probes {
		if p[0] != "pexpiretime" || c.dialect.Is7 {
			names = append(names, p[0])
			commands = append(commands, c.dialect.Client.B().Arbitrary(strings.Fields(p[1])...).Build())
		}
	}
	for i, answer := range mon.asks(c, commands...) {
		err := answer.Error()
		if broken(err) {
			return err
		}
		if err != nil && denied(names[i], err.Error()) {
			lacking = append(lacking, names[i])
		}
	}
	was := mon.lacking
	if mon.lacking = strings.Join(lacking, ", "); mon.lacking != "" && mon.lacking != was {
		mon.log.Warn("redlockd lacks rights on a master", "lacks", mon.lacking)
	}
	return nil
}

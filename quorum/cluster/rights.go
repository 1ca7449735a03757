package cluster

import (
	"strings"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/mark"
)

// probes returns commands that redlockd uses on a master, in a form that changes nothing
// there, and the name of the right to each.
func probes(c *connection) (names []string, commands []rueidis.Completed) {
	noKey, b := mark.Key+":none", c.dialect.Client.B()
	for _, probe := range []struct {
		right   string
		command rueidis.Completed
	}{
		{"set", b.Arbitrary("SET").Keys(noKey).Args("x", "NX", "XX").Build()}, // NX and XX together are a syntax error
		{"del", b.Del().Key(noKey).Build()},
		{"exists", b.Exists().Key(noKey).Build()},
		{"pttl", b.Pttl().Key(noKey).Build()},
		{"pexpireat", b.Pexpireat().Key(noKey).MillisecondsTimestamp(1).Build()},
		{"eval", b.Eval().Script("return 0").Numkeys(0).Build()},
		{"evalsha", b.Evalsha().Sha1(strings.Repeat("0", 40)).Numkeys(0).Build()},
		{"mget", b.Mget().Key(noKey).Build()},
		{"scan", b.Scan().Cursor(0).Count(1).Build()},
		{"dbsize", b.Dbsize().Build()},
		{"config|get", b.ConfigGet().Parameter("appendfsync").Build()},
		{"client|list", b.ClientList().Id().ClientId(c.id).Build()},
		{keyRight + ChangeKey, b.Arbitrary("SET").Keys(ChangeKey).Args("x", "NX", "XX").Build()},
	} {
		names, commands = append(names, probe.right), append(commands, probe.command)
	}
	if c.dialect.Is7 {
		names, commands = append(names, "pexpiretime"), append(commands, b.Pexpiretime().Key(noKey).Build())
	}
	return names, commands
}

// denied reports whether the master refuses the command itself, not only its key.
func denied(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.HasPrefix(text, "NOPERM") && strings.Contains(text, "permissions to run") ||
		strings.Contains(text, "unknown command")
}

// keyRight begins the name of a right to a key, as in ACL SETUSER. Only the right to
// ChangeKey is probed: the mark's shows anyway, and the locks' names are not known.
const keyRight = "~"

// deniedKey reports whether the master refuses the command's key, not the command.
func deniedKey(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "NOPERM") && strings.Contains(err.Error(), "key")
}

// warnOfRights warns about rights that redlockd lacks on the master, once for each set of them;
// without the warning, many would show only in locks that fail. docs/acl.md says what
// each is for.
func (mon *monitor) warnOfRights(c *connection) error {
	names, commands := probes(c)
	var lacking []string
	for i, answer := range mon.asks(c, commands...) {
		err := answer.Error()
		if broken(err) {
			return err
		}
		lacks := denied
		if strings.HasPrefix(names[i], keyRight) {
			lacks = deniedKey
		}
		if lacks(err) {
			lacking = append(lacking, names[i])
		}
	}
	was := mon.lacking
	if mon.lacking = strings.Join(lacking, ", "); mon.lacking != "" && mon.lacking != was {
		mon.log.Warn("redlockd lacks rights on a master", "lacks", mon.lacking)
	}
	return nil
}

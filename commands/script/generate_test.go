package script

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator writes random scripts that look like lock scripts, so that most
// of them run, and some of them are traps.
type generator struct{ *rand.Rand }

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g generator) input() string {
	return g.pick("ARGV[1]", "ARGV[1]", "ARGV[1]", "ARGV[2]", "ARGV[2]", "ARGV[3]", "ARGV[4]")
}

func (g generator) key() string {
	if g.IntN(12) == 0 {
		return "ARGV[3]"
	}
	return "KEYS[1]"
}

func (g generator) read() string {
	return fmt.Sprintf("redis.%s('%s', %s)", g.pick("call", "pcall"),
		g.pick("get", "GET", "get", "get", "exists", "pttl", "ttl", "strlen"), g.key())
}

func (g generator) time() string {
	switch g.IntN(8) {
	case 0:
		return g.pick("100", "0", "'7'", "5000", "-1", "'x'")
	case 1:
		return "tonumber(ARGV[2]) * " + g.pick("1000", "2", "1", "0", "-1", "0.5")
	case 2:
		return g.pick("ARGV[2] + ", "ARGV[2] - ") + g.pick("500", "1", "redis.call('pttl', KEYS[1])")
	case 3:
		return g.input()
	}
	return "ARGV[2]"
}

func (g generator) write() string {
	k, call := g.key(), "redis."+g.pick("call", "call", "pcall")
	switch g.IntN(9) {
	case 7:
		return fmt.Sprintf("%s(%s, %s)", call, g.pick("'delifeq', "+k, "'delex', "+k+", 'IFEQ'", "'delex', "+k+", 'IFNE'"), g.value())
	case 0, 1:
		return fmt.Sprintf("%s('%s', %s)", call, g.pick("del", "unlink"), k)
	case 2, 3:
		return fmt.Sprintf("%s('%s', %s, %s%s)", call, g.pick("pexpire", "expire"), k, g.time(), g.pick("", "", "", ", 'GT'", ", 'lt'", ", 'NX'", ", 'xx'"))
	case 4:
		return fmt.Sprintf("%s('persist', %s)", call, k)
	case 5:
		return fmt.Sprintf("%s('%s', %s, %s, %s)", call, g.pick("setex", "psetex"), k, g.time(), g.input())
	case 6:
		return fmt.Sprintf("%s('%s', %s, %s)", call, g.pick("setnx", "getset"), k, g.value())
	}
	return fmt.Sprintf("%s('set', %s, %s%s%s%s)", call, k, g.pick("ARGV[1]", "ARGV[1]", g.value()),
		g.pick("", ", 'NX'", ", 'nx'", ", 'XX'"),
		g.pick("", ", 'px', "+g.time(), ", 'PX', "+g.time(), ", 'EX', "+g.time(), ", 'keepttl'"),
		g.pick("", "", ", 'GET'"))
}

func (g generator) value() string {
	switch g.IntN(16) {
	case 0:
		return g.pick("'admin'", "'tok'", "'1'", "1", "5000", "0", "nil", "false", "true", "''", "3.7")
	case 1:
		return "tonumber(" + g.input() + ")"
	case 2:
		return "tostring(" + g.value() + ")"
	case 3:
		return g.input() + " .. " + g.pick("'x'", "''", g.input())
	case 4:
		return "string.sub(" + g.input() + ", 1, 2)"
	case 5:
		return g.pick("#ARGV", "#KEYS", "type(v)", "type("+g.input()+")", "select('#', unpack(ARGV))")
	case 6:
		return "{" + g.value() + ", " + g.value() + "}"
	case 7:
		return g.pick("redis.error_reply('NO')", "redis.status_reply('FINE')", "{ok = 'yes'}", "{err = 'MY error'}")
	case 8, 9:
		return "v"
	case 10:
		return "(" + g.condition() + ")"
	case 11:
		return g.write()
	case 12:
		return "KEYS[1]"
	case 13, 14:
		return g.read()
	}
	return g.input()
}

func (g generator) condition() string {
	switch g.IntN(14) {
	case 0, 1, 2, 3, 4:
		return fmt.Sprintf("%s %s %s", g.pick("v", "redis.call('get', "+g.key()+")"), g.pick("==", "==", "~="), g.pick("ARGV[1]", "ARGV[1]", g.input()))
	case 5:
		return g.value() + g.pick(" == ", " ~= ") + g.value()
	case 6:
		return "not (" + g.condition() + ")"
	case 7:
		return "(" + g.condition() + g.pick(" and ", " or ") + g.condition() + ")"
	case 8:
		return fmt.Sprintf("redis.call('%s', KEYS[1]) %s %s", g.pick("pttl", "ttl"), g.pick("<", ">", "<=", ">=", "=="), g.pick("0", "-1", "1", "100"))
	case 9:
		return fmt.Sprintf("tonumber(%s) %s %s", g.input(), g.pick("<", ">", "<=", ">=", "=="), g.pick("0", "1", "100", "5000"))
	case 10:
		return fmt.Sprintf("%s == %s", g.input(), g.pick("'admin'", "'tok'", "'1'", "''", g.input()))
	case 11:
		return "redis.call('exists', KEYS[1]) == " + g.pick("0", "1")
	case 12:
		return g.pick("not v", "v")
	}
	return g.value()
}

// signal fills a list, as a rule with an end.
func (g generator) signal(list string) string {
	return fmt.Sprintf("%s redis.call('%s', %s, %s) %s%s", g.pick("", "redis.call('del', "+list+")"), g.pick("lpush", "rpush"), list,
		g.pick("1", g.input(), "KEYS[1], ARGV[1]"), g.pick("", "redis.call('ltrim', "+list+", 0, "+g.pick("0", "1", "-1", "ARGV[2]")+") "),
		g.pick("", "redis.call('pexpire', "+list+", "+g.pick("500", "ARGV[2]", g.time())+") ",
			"redis.call('pexpire', "+list+", 500) "))
}

func (g generator) block(depth int) string {
	var b strings.Builder
	for range 1 + g.IntN(2) {
		switch n := g.IntN(10); {
		case n < 4 && depth > 0:
			b.WriteString("if " + g.condition() + " then " + g.block(depth-1))
			if g.IntN(2) == 0 {
				b.WriteString("else " + g.block(depth-1))
			}
			b.WriteString("end ")
		case n < 6:
			b.WriteString("local _ = " + g.write() + " ")
		case n < 7:
			b.WriteString("v = " + g.value() + " ")
		case n == 8 && g.IntN(2) == 0:
			b.WriteString("redis.call('publish', " + g.pick("'c'", "KEYS[1]", g.input()) + ", " + g.input() + ") ")
		case n == 8:
			b.WriteString(g.signal(g.pick("'sig'", "'sig'", "'sig'", "ARGV[4]")))
		case n < 8 && depth > 0:
			b.WriteString("for _, a in ipairs(ARGV) do if a == " + g.value() + " then " + g.block(0) + "end end ")
		}
	}
	if g.IntN(2) == 0 {
		b.WriteString("do return " + g.pick(g.value(), g.write()) + " end ")
	}
	return b.String()
}

// script is one random script: half of them have the skeleton of a lock
// script, the others have none.
func (g generator) script() string {
	out := "return " + g.pick(g.value(), g.write(), "0", "1", "redis.call('pttl', KEYS[1])")
	switch g.IntN(6) {
	case 0:
		return "local v = redis.call('get', KEYS[1]) if v == ARGV[1] then " + g.block(1) + g.write2() + "return 1 end " + out
	case 1:
		return "local v = redis.call('get', KEYS[1]) if v ~= ARGV[1] then " + out + " end " + g.write2() + out
	case 2:
		return "local v = redis.call('get', KEYS[1]) if not v" + g.pick("", " or v == ARGV[1]", " or "+g.condition()) +
			" then redis.call('set', KEYS[1], ARGV[1], 'px', " + g.time() + ") " + out + " end " +
			g.pick("", "if v == ARGV[1] then redis.call('pexpire', KEYS[1], "+g.time()+") end ") + out
	}
	return "local v = redis.call('get', KEYS[1]) " + g.block(2) + out
}

func (g generator) write2() string {
	return "v = " + g.pick("redis.call('del', KEYS[1])", "redis.call('pexpire', KEYS[1], "+g.time()+")", g.write()) + " "
}

// words are what random inputs and stored values are made of; several are
// literals of the grammar, and calls often have two of the same.
var words = []string{"tok", "tok", "lock", "5000", "7", "0", "1", "admin", "+5", "", "tokx", "nil", "0100"}

func (g generator) args() []string {
	args := make([]string, 2+g.IntN(3))
	for i := range args {
		args[i] = words[g.IntN(len(words))]
	}
	if g.IntN(2) == 0 {
		args[0], args[1] = "tok", g.pick("5000", "7", "900")
	}
	return args
}

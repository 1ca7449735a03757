package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// lua writes random scripts that look like those of lock clients, and some
// that only nearly do. What a script gets in ARGV has a role by its place: 1 a
// token, 2 a TTL in milliseconds, 3 a flag, 4 a TTL in seconds, 5 another
// token, 6 a time to come in unix milliseconds.
//
// All scripts know the locals v (what was found), w (what was found under the
// last key), n (a number) and t (a table). What a TTL read from Redis goes
// into is only ever compared with what is far from it: see farApart.
type lua struct {
	*rand.Rand
	keys int
}

func (g lua) pick(from ...string) string { return from[g.IntN(len(from))] }

// one is true once in n times.
func (g lua) one(n int) bool { return g.IntN(n) == 0 }

func (g lua) key() string {
	switch {
	case g.one(60):
		return "ARGV[5]"
	case g.keys > 1 && g.one(2):
		return "KEYS[2]"
	}
	return "KEYS[1]"
}

func (g lua) call() string { return "redis." + g.pick("call", "call", "call", "call", "pcall") }

// command is a Redis call; the first word comes in both cases.
func (g lua) command(name string, args ...string) string {
	if g.one(3) {
		name = strings.ToUpper(name)
	}
	return g.call() + "('" + name + "', " + strings.Join(args, ", ") + ")"
}

func (g lua) input() string {
	return g.pick("ARGV[1]", "ARGV[1]", "ARGV[1]", "ARGV[5]", "ARGV[3]", "ARGV[2]", "KEYS[1]", fmt.Sprintf("KEYS[%d]", g.keys))
}

func (g lua) literal() string {
	return g.pick("'tok'", "'other'", "'1'", "'0'", "''", "'add'", "'160000'", "1", "0")
}

func (g lua) milliseconds() string {
	switch g.IntN(12) {
	case 0:
		return g.pick("160000", "'40000'", "40000")
	case 1:
		return g.pick("0", "-1", "'-7'", "'x'", "'1.5'", "ARGV[5]", "nil")
	case 2:
		return "tonumber(ARGV[2])" + g.pick(" * 2", " + 30000", " - 10000", " * 1.5", " / 1")
	case 3:
		return "ARGV[2]" + g.pick(" * 2", " + 30000")
	case 4:
		return "ARGV[2] + " + g.command("pttl", g.key())
	case 5:
		return g.pick("tonumber(ARGV[4]) * 1000", "ARGV[4] * 1000", "ARGV[4] .. '000'", "math.floor(ARGV[2])", "tostring(ARGV[2])")
	}
	return "ARGV[2]"
}

func (g lua) seconds() string {
	switch g.IntN(8) {
	case 0:
		return g.pick("160", "'40'", "-3", "0", "'y'")
	case 1:
		return g.pick("math.floor(tonumber(ARGV[2]) / 1000)", "ARGV[2] / 1000", "ARGV[4] + 10", "math.ceil(ARGV[2] / 1000)")
	}
	return "ARGV[4]"
}

// stored is what a script may put under a key.
func (g lua) stored() string {
	switch g.IntN(12) {
	case 0:
		return g.input()
	case 1:
		return g.literal()
	case 2:
		return "ARGV[1] .. " + g.pick("':1'", "ARGV[3]", "ARGV[5]")
	case 3:
		return g.pick("n", "v", "w", "tostring(n)", "tonumber(ARGV[2])")
	case 4:
		return g.pick("cjson.encode({ARGV[1]})", "cjson.encode({o = ARGV[1]})", "cjson.encode({ARGV[1], v or 0, n})")
	}
	return "ARGV[1]"
}

func (g lua) set(key string) string {
	args := []string{key, g.stored()}
	expiry := []string{"'" + g.pick("px", "PX") + "'", g.milliseconds()}
	switch g.IntN(9) {
	case 0, 1:
		expiry = []string{"'" + g.pick("ex", "EX") + "'", g.seconds()}
	case 2:
		expiry = []string{"'KEEPTTL'"}
	case 3:
		expiry = []string{"'PXAT'", "ARGV[6]"}
	case 4:
		expiry = nil
	}
	if g.one(40) {
		expiry = append(expiry, "'keepttl'")
	}
	var flags []string
	switch g.IntN(8) {
	case 0, 1, 2:
		flags = []string{"'NX'"}
	case 3:
		flags = []string{"'xx'"}
	case 4:
		flags = []string{"ARGV[3]"} // a flag that makes a syntax error or none
	}
	if g.one(8) {
		flags = append(flags, "'GET'")
	}
	if g.one(2) {
		flags, expiry = expiry, flags
	}
	return g.command("set", append(append(args, flags...), expiry...)...)
}

func (g lua) write(key string) string {
	switch g.IntN(22) {
	case 0, 1, 2, 3, 4:
		return g.command(g.pick("del", "del", "unlink"), key)
	case 5, 6, 7:
		return g.command("pexpire", append([]string{key, g.milliseconds()}, g.option()...)...)
	case 8, 9:
		return g.command("expire", append([]string{key, g.seconds()}, g.option()...)...)
	case 10:
		return g.command("pexpireat", append([]string{key, "ARGV[6]"}, g.option()...)...)
	case 11:
		return g.command("persist", key)
	case 12:
		return g.command("setnx", key, g.stored())
	case 13:
		return g.command("setex", key, g.seconds(), g.stored())
	case 14:
		return g.command("psetex", key, g.milliseconds(), g.stored())
	case 15:
		return g.pick(g.command("getset", key, g.stored()), g.command("getdel", key))
	case 16:
		return g.several()
	case 17:
		if g.one(4) {
			return g.odd(key)
		}
	}
	return g.set(key)
}

func (g lua) option() []string {
	if !g.one(4) {
		return nil
	}
	option := []string{g.pick("'NX'", "'xx'", "'GT'", "'LT'", "'gt'", "ARGV[3]", "'ZZ'")}
	if g.one(6) {
		option = append(option, g.pick("'XX'", "'GT'", "'NX'"))
	}
	return option
}

// several is a command that names all keys.
func (g lua) several() string {
	first, last := "KEYS[1]", fmt.Sprintf("KEYS[%d]", g.keys)
	switch g.IntN(3) {
	case 0:
		return g.command(g.pick("mset", "msetnx"), first, g.stored(), last, g.stored())
	case 1:
		return g.command("del", "unpack(KEYS)")
	}
	return g.command(g.pick("del", "unlink", "exists", "mget"), first, last)
}

// odd is what no lock script does, or with a wrong number of arguments.
func (g lua) odd(key string) string {
	return g.pick(
		g.command("incr", key), g.command("sadd", key, "ARGV[1]"), g.command("append", key, "'x'"),
		g.command("rename", key, "'elsewhere'"), g.command("nosuch", key), g.command("get", key, key),
		g.command("set", key), g.call()+"()", g.call()+"('get', nil)", "redis.call({})", "nosuch()")
}

func (g lua) read() string {
	switch g.IntN(8) {
	case 0, 1:
		return g.command("exists", g.key())
	case 2:
		return g.command("strlen", g.key())
	case 3:
		return g.command("mget", "KEYS[1]", g.key()) + "[" + g.pick("1", "2", "3") + "]"
	case 4:
		return g.command("type", g.key()) + g.pick(".ok", "['ok']")
	}
	return g.command("get", g.key())
}

func (g lua) condition(depth int) string {
	if depth > 0 && g.one(4) {
		switch g.IntN(3) {
		case 0:
			return "not (" + g.condition(depth-1) + ")"
		case 1:
			return "(" + g.condition(depth-1) + " or " + g.condition(depth-1) + ")"
		}
		return g.condition(depth-1) + " and " + g.condition(depth-1)
	}
	same := g.pick(" == ", " == ", " == ", " ~= ")
	switch g.IntN(18) {
	case 0:
		return g.pick("v", "not v", "w", "v == nil", "v == false", "not w", "n", "next(t)")
	case 1:
		return g.command("exists", g.key()) + same + g.pick("0", "1")
	case 2:
		return g.command(g.pick("pttl", "ttl"), g.key()) + g.pick(" < ", " > ", " <= ", " >= ", " == ") + g.pick("0", "-1", "-2", "1", "5000000")
	case 3:
		return g.command("pttl", g.key()) + g.pick(" < ", " > ", " <= ", " >= ") + "tonumber(ARGV[2]) + 15000"
	case 4:
		return "ARGV[3]" + same + g.pick("'1'", "'add'", "'0'", "''", "'NX'")
	case 5:
		return "tonumber(ARGV[3])" + same + g.pick("1", "0", "nil")
	case 6:
		return fmt.Sprintf("string.sub(v or '', 1, #ARGV[1])%sARGV[1]", same)
	case 7:
		return "v and " + g.pick("string.find(v, ARGV[1], 1, true) == 1", "v:sub(1, 3) == 'tok'", "#v > 3", "v:match('^tok')", "string.find(v, '^(%a+)')", "v:match('^(.-):(%d+)$')", "select(2, v:gsub('[%d-]', '')) > 0", "string.len(v) == 5")
	case 8:
		return "(tonumber(v) or 0) " + g.pick("<", ">", "==", ">=") + g.pick(" 0", " 1", " tonumber(ARGV[2])")
	case 9:
		return g.input() + same + g.pick(g.literal(), g.input())
	case 10:
		return "n " + g.pick("<", ">", "==", "~=", "<=") + g.pick(" 0", " 1", " #KEYS", " 2", " -1")
	case 11:
		return g.pick("#ARGV", "#KEYS") + g.pick(" > ", " == ", " < ") + g.pick("1", "2", "5")
	case 12:
		return g.read() + same + g.pick(g.input(), g.literal(), "false", "v")
	case 13:
		return g.pick("type(v)", "type(ARGV[2])", "type(w)") + same + g.pick("'string'", "'boolean'", "'nil'", "'number'")
	case 14:
		return "w" + same + "ARGV[1]"
	case 15:
		return g.pick("v", "ARGV[3]") + " and " + g.pick("pcall(cjson.decode, v)", "cjson.decode(v)[1] == ARGV[1]", "v == cjson.encode({ARGV[1]})",
			"v:sub(1, 1) == '{' and cjson.decode(v).o"+same+"ARGV[1]", "pcall(function() return cjson.decode(ARGV[3]).o end)", "cjson.decode(cjson.encode({ARGV[3]}))[1] == '1'")
	}
	return g.pick("v", "v", g.command("get", g.key())) + same + "ARGV[1]"
}

// reply is an expression that a script may answer.
func (g lua) reply(depth int) string {
	switch g.IntN(26) {
	case 0, 1, 2:
		return "1"
	case 3, 4:
		return "0"
	case 5:
		return g.pick("-1", "2", "n", "#KEYS", "#ARGV", "3.7", "-2.5", "n + 1", "n * 2 - 1", "1 / 4", "7 % 4", "2 ^ 3")
	case 6:
		return g.pick("true", "false", "nil", "not v", "v == ARGV[1]")
	case 7:
		return g.pick("'OK'", "'NO'", "''", "'a' .. 'b'", "tostring(n)", "tostring(v)", "tostring(nil)", "type(v)")
	case 8:
		return g.pick("redis.status_reply('OK')", "redis.status_reply('FINE')", "{ok = 'yes'}", "{ok = 'x', 1, 2}")
	case 9:
		return g.pick("redis.error_reply('NOTMINE it is not yours')", "redis.error_reply('oops')", "{err = 'MY own'}", "redis.error_reply('-X y')")
	case 10, 11:
		return "v"
	case 12:
		return g.pick("w", g.input(), "v or ARGV[1]", "v and 1 or 0", "v or false", "tonumber(v)", "tonumber(ARGV[3])", "(v or '') .. ARGV[1]")
	case 13, 14:
		return g.command(g.pick("pttl", "ttl"), g.key())
	case 15, 16:
		if depth == 0 {
			return "{}"
		}
		return "{" + g.reply(depth-1) + ", " + g.reply(depth-1) + g.pick("", ", "+g.reply(depth-1)) + "}"
	case 17:
		return g.pick("{v, "+g.command("pttl", "KEYS[1]")+"}", "{1, 2, nil, 4}", "{v, w}", "t", "KEYS", "{'a', {1, {2}}}", "{false, 1}", "{true, 1}")
	case 18:
		return g.read()
	case 19:
		return g.pick("string.format('%s:%d', ARGV[1], n)", "string.upper(ARGV[1])", "#(v or '')", "string.rep(ARGV[1], 2)", "ARGV[1]:match('%w+')", "(string.gsub(v or '', '^tok', 'x'))", "table.concat(KEYS, ',')", "select('#', unpack(ARGV))", "math.max(n, 3)")
	}
	if g.one(5) {
		return g.pick("cjson.encode({v, n})", "{pcall(cjson.decode, v)}", "cjson.decode(v or '[1]')", "cjson.encode(t)", "cjson.null")
	}
	return g.write(g.key())
}

func (g lua) statement(depth int) string {
	switch g.IntN(16) {
	case 0, 1, 2:
		if depth > 0 {
			return g.branch(depth - 1)
		}
	case 3:
		if depth > 0 {
			return g.loop(depth - 1)
		}
	case 4:
		return g.pick("v = ", "w = ", "local v = ", "n = ") + g.pick(g.read(), g.write(g.key()), "tonumber(ARGV[3]) or 0")
	case 5:
		return "n = n + " + g.pick("1", "#ARGV", g.command("exists", g.key()), g.command("del", g.key()), "tonumber(ARGV[3])")
	case 6:
		return "t[#t + 1] = " + g.pick("v", "n", "ARGV[1]", g.read(), g.write(g.key()))
	case 7:
		return g.pick("table.insert(t, ARGV[1])", "do return "+g.reply(1)+" end", "assert(v)", "error('no')", "error({err = 'E thrown'})",
			"if not ARGV[3] then return redis.error_reply('ERR no flag') end", "local f = function(k) return "+g.command("get", "k")+" end v = f(KEYS[1])")
	}
	return "local _ = " + g.write(g.key())
}

func (g lua) block(depth int) string {
	text := g.statement(depth)
	for g.one(3) {
		text += "\n" + g.statement(depth)
	}
	if g.one(2) {
		text += "\ndo return " + g.reply(2) + " end"
	}
	return text
}

func (g lua) branch(depth int) string {
	text := "if " + g.condition(2) + " then\n" + g.block(depth)
	for g.one(4) {
		text += "\nelseif " + g.condition(1) + " then\n" + g.block(depth)
	}
	if g.one(2) {
		text += "\nelse\n" + g.block(depth)
	}
	return text + "\nend"
}

func (g lua) loop(depth int) string {
	switch g.IntN(6) {
	case 0:
		return "for i = 1, #KEYS do\n" + g.inLoop("KEYS[i]") + "\nend"
	case 1:
		return "for i, a in ipairs(ARGV) do if a == " + g.pick("'add'", "'1'", "'NX'", "v", "KEYS[1]") + " then n = n + i\n" + g.block(0) + "\nend end"
	case 2:
		return "local i = " + g.pick("0", "1", "2") + " while i < 2 do i = i + 1\n" + g.block(depth) + "\nend"
	}
	return "for i, k in " + g.pick("ipairs", "ipairs", "pairs") + "(KEYS) do\n" + g.inLoop("k") + "\nend"
}

// inLoop is what multi-key locks do for each key.
func (g lua) inLoop(key string) string {
	switch g.IntN(6) {
	case 0:
		return "if redis.call('get', " + key + ") == ARGV[1] then n = n + " + g.write(key) + " end"
	case 1:
		return "if not redis.call('set', " + key + ", ARGV[1], 'NX', 'PX', ARGV[2]) then " + g.pick("return 0", "n = n - 1 break", "for j = 1, i - 1 do redis.call('del', KEYS[j]) end return i") + " end"
	case 2:
		return "if redis.call('exists', " + key + ") == 1 then return " + g.reply(1) + " end"
	case 3:
		return "t[i] = " + g.pick("redis.call('get', "+key+")", g.write(key))
	case 4:
		return "if redis.call('get', " + key + ") ~= ARGV[1] then n = n + 1 else " + g.block(0) + " end"
	}
	return g.write(key) + " n = n + 1"
}

// script is one script; most have the skeleton of a lock script.
func (g lua) script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "local v = %s\n", g.pick("redis.call('get', KEYS[1])", "redis.call('get', KEYS[1])", "redis.call('GET', KEYS[1])", "redis.pcall('get', KEYS[1])", g.read(), "false", "nil"))
	fmt.Fprintf(&b, "local w = %s\n", g.pick("nil", "nil", "ARGV[5]", fmt.Sprintf("redis.call('get', KEYS[%d])", g.keys)))
	fmt.Fprintf(&b, "local n, t = %s, {}\n", g.pick("0", "0", "1", "#KEYS", "tonumber(ARGV[3]) or 0"))
	switch g.IntN(7) {
	case 0:
		fmt.Fprintf(&b, "if v == ARGV[1] then\n%s\nend\n", g.block(1))
	case 1:
		fmt.Fprintf(&b, "if v ~= ARGV[1] then return %s end\n%s\n", g.reply(2), g.block(1))
	case 2:
		fmt.Fprintf(&b, "if not v%s then\n%s\nend\n", g.pick("", " or v == ARGV[1]", " or "+g.condition(1)), g.block(1))
	case 3:
		fmt.Fprintf(&b, "if v == ARGV[1] then local _ = %s return %s elseif v then return %s end\n", g.write("KEYS[1]"), g.reply(2), g.reply(2))
	case 4:
		b.WriteString(g.loop(1) + "\n")
	default:
		b.WriteString(g.branch(2) + "\n")
	}
	if !g.one(12) {
		b.WriteString("return " + g.reply(2))
	}
	return b.String()
}

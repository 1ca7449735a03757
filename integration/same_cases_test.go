package integration

import (
	"crypto/sha1"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

// c is a command on the case's first connection; words are split at blanks.
func c(line string) step { return step{args: strings.Fields(line)} }

// a is a command whose arguments contain blanks.
func a(args ...string) step { return step{args: args} }

// raw is bytes as they are.
func raw(s string) step { return step{raw: s} }

// on is a step of another connection.
func on(conn int, s step) step { s.conn = conn; return s }

// about lets two integers differ by this much: they tell a time.
func about(within int64, s step) step { s.within = within; return s }

// differs lets redlockd answer something else.
func differs(s step, pattern, because string) step {
	s.differs, s.because = regexp.MustCompile(`(?s)^`+pattern+`$`), because
	return s
}

const (
	noSuchCommand = "Redis 7.0 does not know it"
	c4            = "C4: redlockd serves locks only"
	c2            = "C2: no_expiry is reject"
	c3            = "C3: more than max_ttl"
	v13           = "V13: a lock never loses its expiry"
)

func sha(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

// The same release and extend in the wordings that people use.
var releases = map[string]string{
	"one line, number": `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`,
	"early return":     releaseScript,
	"true and false":   `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) return true end return false`,
	"unlink":           `local t = redis.call('GET', KEYS[1]); if t == ARGV[1] then return redis.call('UNLINK', KEYS[1]) end; return 0`,
	"pcall":            `if redis.pcall('get', KEYS[1]) == ARGV[1] then return redis.pcall('del', KEYS[1]) end return 0`,
	"three answers": `local t = redis.call('get', KEYS[1])
if t == ARGV[1] then redis.call('del', KEYS[1]) return 1 end
if t == false then return -1 end
return 0`,
	"status":        `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) return redis.status_reply('OK') end return redis.error_reply('ERR not yours')`,
	"nothing":       `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end`,
	"array":         `local t = redis.call('get', KEYS[1]) if t == ARGV[1] then return {redis.call('del', KEYS[1]), t} end return {0, t}`,
	"key as value":  `if redis.call('get', ARGV[2]) == ARGV[1] then return redis.call('del', ARGV[2]) end return 0`,
	"with comments": "-- release\nlocal key = KEYS[1] -- the lock\nlocal token = ARGV[1]\nif redis.call('GET', key) ~= token then\n  return 0\nend\nreturn redis.call('DEL', key)",
}

var extends = map[string]string{
	"pexpire":      `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end`,
	"set xx px":    `if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('set',KEYS[1],ARGV[1],'XX','PX',ARGV[2]) end return false`,
	"set px, ok":   `if redis.call('get',KEYS[1]) == ARGV[1] then redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[2]) return 1 end return 0`,
	"tonumber":     `local ms = tonumber(ARGV[2]) if redis.call('get',KEYS[1]) == ARGV[1] then redis.call('pexpire',KEYS[1],ms) return 1 end return 0`,
	"early return": extendScript,
	"takes what is free, -1 of another": `
local held = redis.call('get', KEYS[1])
if held == ARGV[1] then
  return redis.call('pexpire', KEYS[1], ARGV[2])
elseif not held then
  redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
  return 1
end
return -1`,
	"adds to what is left": `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  local rest = redis.call('PTTL', KEYS[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2] + rest)
  return 1
end
return 0`,
}

const acquireScript = `
if redis.call('exists', KEYS[1]) == 1 then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`

const acquireOrExtendScript = `
local t = redis.call('get', KEYS[1])
if t == false or t == ARGV[1] then
  return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return false`

var sameCases = func() []sameCase {
	cases := slices.Concat(plainCases, sessionCases, hashCases)
	for name, s := range releases {
		cases = append(cases, scriptCase("release, "+name, s, "t", "@k"))
	}
	for name, s := range extends {
		cases = append(cases, scriptCase("extend, "+name, s, "t", "90000"))
	}
	return cases
}()

// scriptCase runs a script on an absent lock, on a lock of another, and on its
// own; as EVAL, and then the same again as EVALSHA.
func scriptCase(name, script, token, arg string) sameCase {
	eval := func(key string) step { return a("EVAL", script, "1", key, token, arg) }
	evalsha := func(key string) step { return a("EVALSHA", sha(script), "1", key, token, arg) }
	steps := []step{
		eval("@k"),
		c("SET @k other NX PX 60000"), eval("@k"), evalsha("@k"), c("GET @k"),
		c("DEL @k"),
		c("SET @k t NX PX 60000"), about(20_000, c("PTTL @k")), eval("@k"), about(20_000, c("PTTL @k")), c("GET @k"),
		c("DEL @k"),
		c("SET @k t NX PX 60000"), evalsha("@k"), about(20_000, c("PTTL @k")), c("GET @k"),
		evalsha("@k"), c("DEL @k"),
		a("SCRIPT", "LOAD", script), a("SCRIPT", "EXISTS", sha(script), strings.Repeat("0", 40)),
		evalsha("@k"),
		a("EVALSHA", strings.ToUpper(sha(script)), "1", "@k", token, arg),
	}
	return sameCase{name, steps}
}

var plainCases = []sameCase{
	{"a lock's life", []step{
		c("SET @k t NX PX 60000"), c("SET @k t NX PX 60000"), c("SET @k other NX PX 60000"), c("GET @k"),
		a("EVAL", releaseScript, "1", "@k", "other"), c("GET @k"),
		a("EVAL", extendScript, "1", "@k", "t", "90000"), about(20_000, c("PTTL @k")), about(20, c("TTL @k")),
		a("EVAL", releaseScript, "1", "@k", "t"), a("EVAL", releaseScript, "1", "@k", "t"),
		c("GET @k"), c("SET @k other NX PX 60000"),
	}},
	{"SET, every order and case", []step{
		c("SET @1 t NX PX 60000"), c("SET @2 t PX 60000 NX"), c("SET @3 t NX EX 60"), c("SET @4 t EX 60 NX"),
		c("set @5 t nx px 60000"), c("Set @6 t Px 60000 nX"), c("set @7 t ex 60 nx"),
		c("SET @1 u PX 60000 NX"), c("SET @2 u NX PX 60000"), c("SET @3 u EX 60 NX"), c("set @4 u nx ex 60"),
		about(20_000, c("PTTL @1")), about(20_000, c("PTTL @3")), about(20_000, c("PTTL @5")), about(20_000, c("PTTL @7")),
		c("MGET @1 @2 @3 @7 @none"), c("EXISTS @1 @1 @2 @none"), c("DEL @1 @2 @none"), c("UNLINK @3 @4 @1"), c("EXISTS @1 @3 @5"),
	}},
	{"SET with GET", []step{
		c("SET @k t NX GET PX 60000"), c("SET @k u NX GET PX 60000"), c("SET @k u PX 60000 GET NX"), c("GET @k"),
	}},
	{"SET until a point in time", []step{
		differs(c("SET @k t NX PXAT 1"), `-ERR invalid expire time in 'set' command[^\r]*\r\n`, "C3: a TTL of 0 or less"), c("EXISTS @k"),
		c("SET @k t NX EXAT 0"), c("SET @k t NX EXAT -1"), c("SET @k t NX PXAT x"),
	}},
	{"SET, wrong options", []step{
		c("SET"), c("SET @k"), c("SET @k t NX XX PX 60000"), c("SET @k t NX PX"), c("SET @k t NX PX 60000 EX 60"),
		c("SET @k t NX PX 60000 PX 60000"), c("SET @k t NX EX 60 KEEPTTL"), c("SET @k t FOO"), c("SET @k t NX PX 60000 FOO"),
		c("SET @k t NX PX NX"), c("SET @k t PX 60000 NX NX"), c("EXISTS @k"), c("DEL @k"),
	}},
	{"SET, wrong numbers", []step{
		c("SET @k t NX PX 0"), c("SET @k t NX PX -1"), c("SET @k t NX EX 0"), c("SET @k t NX EX -5"),
		c("SET @k t NX PX abc"), a("SET", "@k", "t", "NX", "PX", ""), c("SET @k t NX PX 1.5"), c("SET @k t NX PX 1e3"),
		c("SET @k t NX PX +100"), c("SET @k t NX PX 0100"), a("SET", "@k", "t", "NX", "PX", " 100"), a("SET", "@k", "t", "NX", "PX", "100 "),
		c("SET @k t NX PX 0x10"), c("SET @k t NX PX 9223372036854775808"), c("SET @k t NX EX 9223372036854775807"),
		differs(c("SET @k t NX PX 9223372036854775807"), `-ERR invalid expire time in 'set' command[^\r]*\r\n`, c3), c("SET @k t NX PX -9223372036854775808"), c("SET @k t NX PX -0"),
		c("EXISTS @k"),
	}},
	{"SET, more than max_ttl", []step{
		differs(c("SET @k t NX PX 86400001"), `-ERR [^\r]*max_ttl[^\r]*\r\n`, c3),
		differs(c("SET @k t NX EX 86401"), `-ERR [^\r]*max_ttl[^\r]*\r\n`, c3),
		differs(c("EXISTS @k"), `:0\r\n`, c3), c("DEL @none"),
		c("SET @j t NX PX 86400000"), about(900_000, c("PTTL @j")),
	}},
	{"locks without expiry", []step{
		differs(c("SETNX @k t"), `-ERR [^\r]*no_expiry[^\r]*\r\n`, c2),
		differs(c("SET @k t NX"), `-ERR [^\r]*no_expiry[^\r]*\r\n`, c2),
		differs(c("EXISTS @k"), `:0\r\n`, c2),
		c("SETNX @k"), c("SETNX @k t u"), c("SETNX"),
	}},
	{"any bytes", []step{
		a("SET", "@k\x00\r\n\xff", "t\x00\r\n\xff", "NX", "PX", "60000"), a("GET", "@k\x00\r\n\xff"),
		a("EVAL", releaseScript, "1", "@k\x00\r\n\xff", "t\x00\r\n"), a("EVAL", releaseScript, "1", "@k\x00\r\n\xff", "t\x00\r\n\xff"),
		a("SET", "@e", "", "NX", "PX", "60000"), a("GET", "@e"), a("STRLEN", "@e"), a("EVAL", releaseScript, "1", "@e", ""), a("GET", "@e"),
	}},
	{"reads", []step{
		c("GET @k"), c("TTL @k"), c("PTTL @k"), c("EXISTS @k"), c("STRLEN @k"), c("TYPE @k"), c("MGET @k @l"), c("PEXPIRETIME @k"),
		c("SET @k token NX PX 60000"),
		c("GET @k"), about(20, c("TTL @k")), about(20_000, c("PTTL @k")), c("EXISTS @k @k"), c("STRLEN @k"), c("TYPE @k"), c("MGET @k @l @k"),
		about(60_000, c("PEXPIRETIME @k")),
		c("GET"), c("GET @k @l"), c("TTL"), c("PTTL @k 1"), c("EXISTS"), c("STRLEN"), c("TYPE @k @k"), c("MGET"),
	}},
	{"expiry without a token", []step{
		c("EXPIRE @k 60"), c("PEXPIRE @k 60000"),
		c("SET @k t NX PX 60000"), c("EXPIRE @k 100"), about(20_000, c("PTTL @k")), c("PEXPIRE @k 60000"), about(20_000, c("PTTL @k")),
		c("EXPIRE @k x"), c("PEXPIRE @k 1.5"), c("EXPIRE @k"), c("PEXPIRE @k"),
		c("PEXPIRE @k 0"), c("EXISTS @k"), c("SET @k u NX PX 60000"), c("EXPIRE @k -1"), c("GET @k"),
	}},
	{"remove without a token", []step{
		c("DEL @k"), c("UNLINK @k"), c("SET @k t NX PX 60000"), c("DEL @k"), c("DEL @k"), c("SET @k t NX PX 60000"), c("UNLINK @k"), c("UNLINK @k"),
		c("SET @a t NX PX 60000"), c("SET @b t NX PX 60000"), c("DEL @a @b @c"), c("EXISTS @a @b"),
		c("SET @a t NX PX 60000"), c("DEL @a @a"),
		c("DEL"), c("UNLINK"),
	}},
	{"SET whoever holds it", []step{
		c("SET @k t PX 60000"), c("GET @k"), c("SET @k u PX 90000"), c("GET @k"), about(20_000, c("PTTL @k")),
		c("SET @k v XX PX 60000"), c("GET @k"), c("SET @none v XX PX 60000"), c("GET @none"),
		c("SET @k t NX PX 60000"),
	}},
	{"compare and delete of 8.4", []step{
		c("SET @k t NX PX 60000"),
		differs(c("DELEX @k IFEQ other"), `:0\r\n`, noSuchCommand), differs(c("DELEX @k IFEQ t"), `:1\r\n`, noSuchCommand),
		differs(c("DELEX @k IFEQ t"), `:0\r\n`, noSuchCommand), differs(c("EXISTS @k"), `:0\r\n`, noSuchCommand),
		c("DEL @none"), differs(c("SET @l t NX PX 60000"), `\+OK\r\n`, noSuchCommand),
		differs(c("DELIFEQ @l other"), `:0\r\n`, noSuchCommand), differs(c("DELIFEQ @l t"), `:1\r\n`, noSuchCommand),
		differs(c("SET @l t NX PX 60000"), `\+OK\r\n`, noSuchCommand),
		differs(c("SET @l t PX 90000 IFEQ t"), `\+OK\r\n`, noSuchCommand), differs(c("SET @l t EX 90 IFEQ other"), `(\$-1|_)\r\n`, noSuchCommand),
		differs(c("SET @none t EX 90 IFEQ t"), `(\$-1|_)\r\n`, noSuchCommand),
		differs(c("DELEX"), `-ERR wrong number of arguments for 'delex' command\r\n`, noSuchCommand),
	}},
	{"StackExchange.Redis release", []step{
		c("SET @k t EX 60 NX"), c("WATCH @k"), c("GET @k"), c("MULTI"), c("DEL @k"), c("EXEC"),
		c("WATCH @k"), c("GET @k"), c("UNWATCH"),
		c("SET @k t EX 60 NX"), c("WATCH @k"), c("GET @k"), c("MULTI"), c("UNLINK @k"), c("EXEC"), c("GET @k"),
		c("SET @k t EX 60 NX"), c("WATCH @k"), c("GET @k"), c("MULTI"), c("DEL @k"), c("DISCARD"), c("GET @k"),
	}},
	{"StackExchange.Redis extend", []step{
		c("SET @k t EX 60 NX"), c("WATCH @k"), c("GET @k"), c("MULTI"), c("EXPIRE @k 100"), c("EXEC"), about(20_000, c("PTTL @k")),
		c("WATCH @k"), c("GET @k"), c("MULTI"), c("PEXPIRE @k 60000"), c("EXEC"), about(20_000, c("PTTL @k")),
	}},
	{"a transaction that lost the race", []step{
		c("SET @k t EX 60 NX"), c("WATCH @k"), c("GET @k"),
		on(1, c("DEL @k")), on(1, c("SET @k u EX 60 NX")),
		c("MULTI"), c("DEL @k"), c("EXEC"), c("GET @k"),
		c("WATCH @k"), c("GET @k"), on(1, a("EVAL", releaseScript, "1", "@k", "u")), c("MULTI"), c("EXPIRE @k 60"), c("EXEC"), c("EXISTS @k"),
	}},
	{"a transaction without a lock under a change of its own", []step{
		c("WATCH @k"), c("SET @k t EX 60 NX"), c("MULTI"), c("PING"), c("EXEC"),
		c("WATCH @k"), c("MULTI"), c("PING"), c("EXEC"),
		c("WATCH @k"), c("DEL @k"), c("MULTI"), c("ECHO x"), c("EXEC"),
	}},
	{"a transaction on an absent key", []step{
		c("WATCH @k"), c("GET @k"), on(1, c("SET @k u EX 60 NX")), c("MULTI"), c("DEL @k"), c("EXEC"), c("GET @k"),
		c("DEL @k"), c("WATCH @k"), c("EXISTS @k"), c("MULTI"), c("SETEX @k 60 1"), c("EXEC"), c("GET @k"),
	}},
	{"transactions, wrong order", []step{
		c("EXEC"), c("DISCARD"), c("UNWATCH"), c("MULTI"), c("MULTI"), c("WATCH @k"), c("EXEC"),
		c("MULTI"), c("EXEC"), c("WATCH"), c("MULTI"), c("DISCARD"), c("EXEC"),
		c("MULTI"), c("SET @k"), c("EXEC"), c("MULTI"), c("DEL"), c("PING"), c("EXEC"), c("MULTI x"), c("EXEC x"),
	}},
	{"scripts that take locks", []step{
		a("EVAL", acquireScript, "1", "@k", "t", "60000"), a("EVAL", acquireScript, "1", "@k", "t", "60000"), a("EVAL", acquireScript, "1", "@k", "u", "60000"),
		c("GET @k"), about(20_000, c("PTTL @k")), c("DEL @k"),
		a("EVAL", acquireOrExtendScript, "1", "@k", "t", "60000"), a("EVAL", acquireOrExtendScript, "1", "@k", "u", "60000"),
		a("EVAL", acquireOrExtendScript, "1", "@k", "t", "90000"), c("GET @k"), about(20_000, c("PTTL @k")),
	}},
	{"scripts that only look", []step{
		a("EVAL", `return redis.call('get', KEYS[1])`, "1", "@k"), c("SET @k t NX PX 60000"), a("EVAL", `return redis.call('get', KEYS[1])`, "1", "@k"),
		a("EVAL", `if redis.call('get', KEYS[1]) == ARGV[1] then return 1 else return 0 end`, "1", "@k", "t"),
		a("EVAL", `if redis.call('get', KEYS[1]) == ARGV[1] then return 1 else return 0 end`, "1", "@k", "u"),
		a("EVAL", `return redis.call('exists', KEYS[1])`, "1", "@k"),
	}},
	{"scripts, a flag changes the meaning", []step{
		c("SET @k t NX PX 60000"),
		a("EVAL", additive, "1", "@k", "t", "30000", "0"), about(20_000, c("PTTL @k")),
		a("EVAL", additive, "1", "@k", "t", "60000", "1"), about(20_000, c("PTTL @k")),
		a("EVAL", additive, "1", "@k", "t", "30000", "0"), about(20_000, c("PTTL @k")),
		a("EVAL", additive, "1", "@k", "u", "30000", "0"), a("EVAL", additive, "1", "@none", "t", "30000", "1"),
		a("EVAL", orAdmin, "1", "@k", "admin"), c("GET @k"), c("SET @k t NX PX 60000"), a("EVAL", orAdmin, "1", "@k", "u"), c("GET @k"),
		a("EVAL", orAdmin, "1", "@k", "t"), c("GET @k"),
	}},
	{"scripts, errors", []step{
		c("EVAL"), c("EVAL x"), a("EVAL", releaseScript, "x", "@k", "t"), a("EVAL", releaseScript, "-1", "@k", "t"), a("EVAL", releaseScript, "3", "@k", "t"),
		a("EVALSHA", strings.Repeat("f", 40), "1", "@k", "t"), a("EVALSHA", "short", "1", "@k", "t"), c("EVALSHA"),
		c("SCRIPT"), c("SCRIPT LOAD"), c("SCRIPT EXISTS"), c("SCRIPT NONSENSE"),
		a("SCRIPT", "LOAD", releaseScript), a("EVALSHA", sha(releaseScript), "1", "@k", "t"),
		c("SCRIPT FLUSH"), a("EVALSHA", sha(releaseScript), "1", "@k", "t"), a("SCRIPT", "EXISTS", sha(releaseScript)),
		c("SCRIPT FLUSH ASYNC"), c("SCRIPT FLUSH SYNC"), c("SCRIPT FLUSH NOW"),
	}},
	{"databases", []step{
		c("SET @k zero NX PX 60000"), c("SELECT 1"), c("GET @k"), c("SET @k one NX PX 60000"), c("GET @k"),
		c("SELECT 0"), c("GET @k"), a("EVAL", releaseScript, "1", "@k", "one"), a("EVAL", releaseScript, "1", "@k", "zero"),
		c("SELECT 1"), c("GET @k"), c("DEL @k"), c("SELECT 15"), c("GET @k"),
		c("SELECT 16"), c("SELECT -1"), c("SELECT x"), c("SELECT"), c("SELECT 1 2"), c("SELECT 0"),
	}},
	{"housekeeping", []step{
		c("PING"), c("ping hello"), a("PING", ""), c("PING a b"), c("ECHO hi"), c("ECHO"), a("ECHO", "\x00\r\n\xff"),
		c("CLIENT SETNAME me"), c("CLIENT GETNAME"), c("CLIENT NONSENSE"), c("CLIENT"),
		c("CONFIG GET timeout"), c("CONFIG GET databases"), c("CONFIG GET slave-read-only"),
		c("CLUSTER NODES"), c("CLUSTER INFO"), c("SENTINEL MASTERS"), c("READONLY"),
		c("AUTH x"), c("AUTH user x"), c("AUTH"), c("HELLO 4"), c("HELLO x"), c("ROLE"),
		c("COMMAND COUNT x"), c("RESET"), c("PING"),
	}},
	{"two protocols", []step{
		c("GET @k"), differs(c("HELLO 3"), `%7\r\n.*\$5\r\nproto\r\n:3\r\n.*`, "the version and the id"), c("GET @k"),
		c("SET @k t NX PX 60000"), c("SET @k t NX PX 60000"),
		differs(c("HELLO 2"), `\*14\r\n.*\$5\r\nproto\r\n:2\r\n.*`, "the version and the id"), c("GET @j"), c("SET @k t NX PX 60000"),
		c("WATCH @k"), on(1, c("DEL @k")), c("MULTI"), c("DEL @k"), c("EXEC"),
	}},
	{"inline commands", []step{
		raw("PING\r\n"), raw("ping\n"), raw("SET @k t NX PX 60000\r\n"), raw("  GET   @k  \r\n"), raw("SET @k \"a b\" NX PX 60000\r\n"),
		raw("SET @q \"a b\\x41\\n\" NX PX 60000\r\n"), raw("GET @q\r\n"), raw("SET @r 'it''s' NX PX 60000\r\n"),
	}},
	{"not lock commands", []step{
		differs(c("LPUSH @l x"), `(?i)-ERR unknown command 'lpush'[^\r]*\r\n`, c4), differs(c("ZADD @h 1 v"), `(?i)-ERR unknown command 'zadd'[^\r]*\r\n`, c4),
		differs(c("FLUSHALL"), `-ERR [^\r]*\r\n`, c4), c("KEYS @nothing*"),
		differs(c("NONSENSE a b"), `(?i)-ERR unknown command 'nonsense'[^\r]*\r\n`, c4), c("PING"),
		differs(a("EVAL", `return redis.call('lpush', KEYS[1], 'x')`, "1", "@l"), `-ERR [^\r]*\r\n`, c4),
		c("PING"),
	}},
	{"GETEX", []step{
		c("GETEX @none"), c("GETEX @none PX 100"), c("SET @k t NX PX 50000"), c("GETEX @k"), about(20_000, c("PTTL @k")),
		c("GETEX @k PX 20000"), about(20_000, c("PTTL @k")), c("GETEX @k EX 0"), c("GETEX @k FOO"), c("GETEX @k EX"), c("GETEX @k EX 1 PX 1"),
		c("GETEX @k PX x"), c("MULTI"), c("GETEX @k EX 30"), c("GET @k"), c("EXEC"),
		differs(c("GETEX @k EXAT 1"), `-ERR invalid expire time in 'getex' command: it is in the past\r\n`, "C3: it deletes nothing"), differs(c("GET @k"), `\$1\r\nt\r\n`, "C3: it deletes nothing"),
	}},
	{"signal lists, and all locks of a pattern", []step{
		c("SET @k t NX PX 50000"), c("LLEN @k"), c("LLEN @l"), c("KEYS @*"),
		a("EVAL", freeAndSignal, "2", "@k", "@l", "t", "20000"), c("LLEN @l"), c("EXISTS @l @k @l"), about(2, c("TTL @l")), about(1500, c("PTTL @l")), c("TYPE @l"),
		c("LLEN @l"), c("BLPOP @l 1"), c("LLEN @l"), c("BLPOP @l 0.01"),
		c("LLEN"), c("KEYS"), c("LLEN @none"), c("TYPE @none"), a("EVAL", freeByPattern, "0", "@k*"), c("SET @k t NX PX 50000"), c("SET @k2 t NX PX 50000"), a("EVAL", freeByPattern, "0", "@k*"), c("MGET @k @k2"),
		about(2, c("TTL @k:signal")), c("LLEN @k2:signal"),
		c("SET @k t NX PX 50000"), a("EVAL", freeAndTrim, "2", "@k", "@m", "u"), c("LLEN @m"), a("EVAL", freeAndTrim, "2", "@k", "@m", "t"), c("LLEN @m"),
		c("SET @k t NX PX 50000"), a("EVAL", freeAndTrim, "2", "@k", "@m", "t"), c("LLEN @m"), c("DEL @k @m"), c("EXISTS @m"), c("UNLINK @m"), c("BLPOP @m 0.01"),
	}},
	{"what Redis 8.4 added", []step{
		c("SET @k t NX PX 50000"),
		differs(c("DIGEST @k"), `\$16\r\n[0-9a-f]{16}\r\n`, noSuchCommand), differs(c("DIGEST @none"), `(\$-1|_)\r\n`, noSuchCommand),
		differs(c("SET @k u IFNE t PX 50000"), `(\$-1|_)\r\n`, noSuchCommand), differs(c("SET @k u IFNE x PX 50000"), `\+OK\r\n`, noSuchCommand),
		differs(c("SET @k u IFDNE 12 PX 1"), `-ERR [^\r]*16 hexadecimal[^\r]*\r\n`, noSuchCommand),
		differs(c("DELEX @k IFNE u"), `:0\r\n`, noSuchCommand), differs(c("DELEX @k IF u"), `-ERR Invalid condition[^\r]*\r\n`, noSuchCommand),
		differs(c("MSETEX 2 @a t @k t NX PX 50000"), `:0\r\n`, noSuchCommand), differs(c("MSETEX 2 @a t @b t NX PX 50000"), `:1\r\n`, noSuchCommand),
		differs(c("MGET @a @b"), `\*2\r\n\$1\r\nt\r\n\$1\r\nt\r\n`, noSuchCommand),
		differs(c("DELEX @k IFNE x"), `:1\r\n`, noSuchCommand), differs(c("DELEX @a"), `:1\r\n`, noSuchCommand),
	}},
	{"publish and subscribe", []step{
		c("PUBLISH @ch hello"), c("SUBSCRIBE @ch"), c("UNSUBSCRIBE @ch"), c("PING"),
	}},
}

// additive is an extend that adds to what is left, unless its flag says to
// replace it.
const additive = `
local token = redis.call('get', KEYS[1])
if not token or token ~= ARGV[1] then return 0 end
local left = redis.call('pttl', KEYS[1])
if left < 0 then return 0 end
local ms = ARGV[2]
if ARGV[3] == '0' then ms = ARGV[2] + left end
redis.call('pexpire', KEYS[1], ms)
return 1`

// freeAndSignal is a release that fills a list.
const freeAndSignal = `
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 1 end
redis.call('del', KEYS[2])
redis.call('lpush', KEYS[2], 1)
redis.call('pexpire', KEYS[2], ARGV[2])
redis.call('del', KEYS[1])
return 0`

// freeAndTrim is a release that leaves one item in a list without an expiry.
const freeAndTrim = `
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('lpush', KEYS[2], 1)
redis.call('ltrim', KEYS[2], 0, 0)
return redis.call('del', KEYS[1])`

// freeByPattern frees all locks of a pattern and wakes who waits for them.
const freeByPattern = `
local locks = redis.call('keys', ARGV[1])
for _, lock in pairs(locks) do
  redis.call('del', lock .. ':signal')
  redis.call('lpush', lock .. ':signal', 1)
  redis.call('expire', lock .. ':signal', 20)
  redis.call('del', lock)
end
return #locks`

// orAdmin is a release that a special token always gets.
const orAdmin = `
if redis.call('get', KEYS[1]) == ARGV[1] or ARGV[1] == 'admin' then
  return redis.call('del', KEYS[1])
end
return 0`

// maxTTLCases need no_expiry = "max_ttl".
var maxTTLCases = []sameCase{
	{"SETNX and what goes with it", []step{
		c("SETNX @k t"), c("SETNX @k u"), c("GET @k"),
		differs(c("PTTL @k"), `:86[34]\d{5}\r\n`, "C2: it has the greatest TTL"),
		c("GETSET @k u"), c("GET @k"), c("SETNX @k t"), c("DEL @k"), c("SETNX @k t"), c("DEL @k"),
		c("GETSET @none t"), c("GET @none"),
	}},
	{"MSETNX", []step{
		c("MSETNX @a t @b t"), c("MSETNX @b u @c u"), c("MGET @a @b @c"), c("MSETNX @c u"), c("DEL @a @b @c"), c("MSETNX @a t @b"),
		c("MULTI"), c("MSETNX @a t @b t"), c("PEXPIRE @a 5000"), c("PEXPIRE @b 5000"), c("EXEC"), c("MGET @a @b"), c("DEL @a @b"),
	}},
	{"SET without expiry", []step{
		c("SET @k t NX"), c("SET @k t NX"), c("GET @k"), c("SET @k u"), c("GET @k"), c("SET @k v XX"), c("GET @k"),
		differs(c("PTTL @k"), `:86[34]\d{5}\r\n`, "C2: it has the greatest TTL"), c("DEL @k"),
	}},
}

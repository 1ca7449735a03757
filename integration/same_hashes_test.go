package integration

const (
	// takeHash is a lock in a hash: the holder takes it again, others learn for how long it is
	// held. freeHash gives back one turn of the holder's.
	takeHash = `
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return redis.call('HKEYS', KEYS[1])
end
local turns = redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return turns`
	freeHash = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return false end
local turns = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
if turns > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
else
  redis.call('DEL', KEYS[1])
end
return turns`
	renewHashes = `
local done = {}
for i, key in ipairs(KEYS) do
  done[i] = redis.call('HEXISTS', key, ARGV[i + 1])
  if done[i] == 1 then redis.call('PEXPIRE', key, ARGV[1]) end
end
return done`
	// tellHash asks everything that can be asked of a hash.
	tellHash = `return {redis.call('HGET', KEYS[1], ARGV[1]), redis.call('HMGET', KEYS[1], ARGV[1], 'x'), redis.call('HEXISTS', KEYS[1], ARGV[1]),
  redis.call('HLEN', KEYS[1]), redis.call('HKEYS', KEYS[1]), redis.call('HVALS', KEYS[1]), redis.call('HGETALL', KEYS[1]), redis.call('TYPE', KEYS[1]).ok}`
	oneField = "the hash of one holder has one field"
	// freeOnce is a release that is answered alike when it is sent again.
	freeOnce = `
local told = redis.call('GET', KEYS[2])
if told then return told end
redis.call('SET', KEYS[2], redis.call('HDEL', KEYS[1], ARGV[1]), 'PX', 50000)
return 'first'`
	takeOnce = `
if redis.call('HSETNX', KEYS[1], ARGV[1], 'here') == 0 then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`
)

func take(who string) step { return a("EVAL", takeHash, "1", "@h", who, "60000") }
func free(who string) step { return a("EVAL", freeHash, "1", "@h", who, "60000") }

var hashCases = []sameCase{
	{"a lock in a hash", []step{
		take("a:1"), take("a:1"), take("b:1"), free("b:1"), c("HGET @h a:1"), about(20_000, c("PTTL @h")),
		free("a:1"), c("HGETALL @h"), free("a:1"), c("EXISTS @h"), free("a:1"), take("b:1"), c("DEL @h"), free("b:1"),
		a("EVALSHA", sha(takeHash), "1", "@h", "a:1", "60000"), a("EVALSHA", sha(freeHash), "1", "@h", "a:1", "60000"),
	}},
	{"a lock in a hash, by one that is not reentrant", []step{
		a("EVAL", takeOnce, "1", "@h", "a:1", "60000"), a("EVAL", takeOnce, "1", "@h", "a:1", "60000"), c("HVALS @h"), c("HDEL @h a:1"), c("TYPE @h"),
	}},
	{"hashes are read", []step{
		c("HGET @h f"), c("HMGET @h f g"), c("HEXISTS @h f"), c("HLEN @h"), c("HKEYS @h"), c("HVALS @h"), c("HGETALL @h"), c("TYPE @h"), a("EVAL", tellHash, "1", "@h", "a:1"),
		take("a:1"), c("HGET @h a:1"), c("HGET @h g"), c("HMGET @h g a:1 g"), c("HEXISTS @h a:1"), c("HEXISTS @h g"), c("HLEN @h"), c("HKEYS @h"), c("HVALS @h"), c("HGETALL @h"), c("TYPE @h"),
		c("EXISTS @h @h"), a("EVAL", tellHash, "1", "@h", "a:1"), about(60_000, c("PEXPIRETIME @h")),
		c("HGET @h"), c("HMGET @h"), c("HEXISTS @h"), c("HLEN"), c("HKEYS @h f"), c("HVALS"), c("HGETALL @h f"), c("HSET @h f"), c("HSET @h f 1 g"), c("HDEL @h"), c("HINCRBY @h f"), c("HSETNX @h f"),
	}},
	{"a hash is changed by commands", []step{
		differs(c("HSET @n f 1"), `-ERR [^\r]*no_expiry[^\r]*\r\n`, c2), c("DEL @none"),
		take("a:1"), c("HSET @h a:1 7"), c("HINCRBY @h a:1 -2"), c("HGET @h a:1"), c("HSETNX @h a:1 3"), c("HSET @h a:1 x"), c("HINCRBY @h a:1 1"), c("HINCRBY @h a:1 y"),
		c("HSET @h a:1 9223372036854775800"), c("HINCRBY @h a:1 100"), about(20_000, c("PTTL @h")), c("PEXPIRE @h 50000"), c("HGET @h a:1"),
		c("HDEL @h none none"), c("HDEL @h none a:1 a:1"), c("EXISTS @h"), c("HDEL @h a:1"),
	}},
	{"a second field", []step{
		take("a:1"), differs(c("HSET @h b:1 1"), `-ERR 'hset' cannot be carried out: it leaves more than one field[^\r]*\r\n`, oneField),
		differs(a("EVAL", `return redis.call('HSET', KEYS[1], 'b:1', 1)`, "1", "@h"), `-ERR This script is not a lock script: it leaves more than one field[^\r]*\r\n`, oneField),
		c("HGET @h a:1"), differs(c("HLEN @h"), `:1\r\n`, oneField),
		a("EVAL", `redis.call('HSET', KEYS[1], 'b:1', 1) return redis.call('HDEL', KEYS[1], 'a:1', 'b:1')`, "1", "@h"), c("EXISTS @h"),
	}},
	{"strings are no hashes, and hashes no strings", []step{
		take("a:1"), c("GET @h"), c("STRLEN @h"), differs(c("GETSET @h x"), `-ERR [^\r]*no_expiry[^\r]*\r\n`, c2), c("GETDEL @h"), c("GETEX @h"), c("GETEX @h PX 50000"), c("MGET @h @none"), c("SET @h x XX GET PX 50000"), c("SET @h x NX PX 50000"),
		a("EVAL", releaseScript, "1", "@h", "t"), a("EVAL", extendScript, "1", "@h", "t", "1000"), a("EVAL", acquireScript, "1", "@h", "t", "1000"),
		a("EVAL", `return redis.pcall('GET', KEYS[1])`, "1", "@h"), a("EVAL", `return redis.call('MGET', KEYS[1], 'none')`, "1", "@h"), c("HGETALL @h"),
		c("SET @h x PX 50000"), c("GET @h"), c("HGET @h f"), c("HSET @h f 1"), c("HINCRBY @h f 1"), c("HDEL @h f"), c("HLEN @h"), c("HGETALL @h"), c("HSETNX @h f 1"), free("a:1"), c("TYPE @h"),
	}},
	{"hashes in transactions", []step{
		c("MULTI"), c("HINCRBY @h a:1 1"), c("PEXPIRE @h 60000"), c("HGETALL @h"), c("HKEYS @h"), c("EXEC"), c("HGETALL @h"),
		c("WATCH @h"), c("MULTI"), c("HINCRBY @h a:1 1"), c("EXEC"),
		c("WATCH @h"), on(1, free("a:1")), c("MULTI"), c("HINCRBY @h a:1 1"), c("EXEC"), c("HGET @h a:1"),
		c("WATCH @h"), c("HGET @h a:1"), c("MULTI"), c("DEL @h"), c("EXEC"), c("MULTI"), c("HGETALL @h"), c("TYPE @h"), c("EXEC"),
		c("MULTI"), c("HGET @h"), c("EXEC"),
	}},
	{"many hashes are renewed", []step{
		a("EVAL", takeHash, "1", "@1", "a:1", "60000"), a("EVAL", takeHash, "1", "@2", "a:2", "60000"), a("EVAL", takeHash, "1", "@3", "b:1", "60000"),
		a("EVAL", renewHashes, "4", "@1", "@2", "@3", "@none", "90000", "a:1", "a:2", "a:3", "a:4"), about(20_000, c("PTTL @1")), about(20_000, c("PTTL @2")), about(20_000, c("PTTL @3")), c("EXISTS @none"),
		a("EVALSHA", sha(renewHashes), "4", "@1", "@2", "@3", "@none", "70000", "a:1", "a:2", "a:3", "a:4"), about(20_000, c("PTTL @1")),
	}},
	{"a latch", []step{
		take("a"), a("EVAL", freeOnce, "2", "@h", "redisson_unlock_latch:{@}:1", "a"),
		differs(a("EVAL", freeOnce, "2", "@h", "redisson_unlock_latch:{@}:1", "a"), `\$(1\r\n1|5\r\nfirst)\r\n`, "it is remembered with the first one's reply, for which a pipeline does not wait"),
		c("EXISTS @h"),
		differs(c("DEL redisson_unlock_latch:{@}:1"), `:[01]\r\n`, "it is on no master, so it does not wait for what goes before"), c("EXISTS @h"),
	}},
}

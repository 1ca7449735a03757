package integration

import (
	"fmt"
	"testing"
)

// TestC1LibrariesAsOnRedis plays what libraries send whose own tests no package holds,
// as TestC1SameAsRedis does. Some of them take locks without a TTL.
func TestC1LibrariesAsOnRedis(t *testing.T) {
	redisServer := StartRedis(t)
	masters := StartMasters(t, 3)
	cfg := overFive(masters)
	cfg.Timeout, cfg.NoExpiry = unhurried, "max_ttl"
	redlockd := StartRedlockd(t, cfg, masters)
	for _, way := range ways {
		for i, library := range libraryCases {
			t.Run(way.name+"/"+library.name, func(t *testing.T) {
				compareCase(t, way, library.steps, fmt.Sprintf("%s:%d:", way.name, i), redisServer.Addr, redlockd.Addr)
			})
		}
	}
}

var libraryCases = []sameCase{
	// The value is the time at which the lock is over; whoever finds it past puts its
	// own, and has the lock if what was there is past as well.
	{"redis-mutex", []step{
		c("SETNX @locks:a 2000000000.5"), c("SETNX @locks:a 2000000001.5"), c("GET @locks:a"),
		on(1, c("GET @locks:a")), on(1, c("DEL @locks:a")), c("GET @locks:a"),
		c("SETNX @locks:a 1000.25"), on(1, c("SETNX @locks:a 2000000002.5")), on(1, c("GET @locks:a")),
		on(1, c("GETSET @locks:a 2000000002.5")), c("GETSET @locks:a 2000000003.5"), c("GET @locks:a"), c("DEL @locks:a"),
		c("KEYS @locks:*"), c("SETNX @locks:b 1000.25"), c("KEYS @locks:*"), c("MGET @locks:b"), c("GETSET @locks:b 2000000004.5"), c("DEL @locks:b"),
		c("KEYS @locks:*"), c("MGET @locks:b @locks:a"),
	}},
	// Owner and end are a key each, set together or not at all.
	{"redis-lock (Ruby)", []step{
		c("MSETNX @owner alice @end 2000000000"), on(1, c("MSETNX @owner bob @end 2000000009")),
		c("MULTI"), c("GET @owner"), c("GET @end"), c("EXEC"),
		on(1, c("WATCH @owner @end")), on(1, c("GET @owner")), on(1, c("GET @end")), on(1, c("UNWATCH")),
		c("WATCH @owner"), c("GET @owner"), c("MULTI"), c("SET @end 2000000100"), c("EXEC"), c("UNWATCH"), c("GET @end"),
		on(1, c("WATCH @owner @end")), on(1, c("GET @end")), c("SET @end 2000000200"),
		on(1, c("MULTI")), on(1, c("DEL @owner")), on(1, c("DEL @end")), on(1, c("EXEC")), on(1, c("UNWATCH")),
		c("WATCH @owner @end"), c("GET @owner"), c("MULTI"), c("DEL @owner"), c("DEL @end"), c("EXEC"), c("UNWATCH"),
		c("MULTI"), c("GET @owner"), c("GET @end"), c("EXEC"),
		c("SET @end 5"), c("MSETNX @owner alice @end 2000000000"), c("DEL @end"), on(1, c("MSETNX @owner bob @end 2000000009")), on(1, c("DEL @owner @end")),
	}},
	// A script takes the lock, or extends it where the flag forbids taking; another
	// tells holder and TTL. All are sent by their SHA first.
	{"redlock-rb", []step{
		c("EVALSHA 0000000000000000000000000000000000000001 1 @k t 30000 yes"),
		a("EVAL", takeOrExtend, "1", "@k", "t", "30000", "no"), a("EVAL", takeOrExtend, "1", "@k", "t", "30000", "yes"),
		a("EVAL", takeOrExtend, "1", "@k", "u", "30000", "yes"), a("EVAL", takeOrExtend, "1", "@k", "t", "60000", "no"), about(1500, c("PTTL @k")),
		a("EVAL", compareAndFree, "1", "@k", "u"), a("EVAL", compareAndFree, "1", "@k", "t"), a("EVAL", compareAndFree, "1", "@k", "t"),
		a("EVAL", holderAndTTL, "1", "@k"), differs(c("INFO memory"), `.*number_of_cached_scripts:\d+\r\n.*`, "S3: INFO is redlockd's own"),
	}},
	// Scripts that answer an error where the lock is another's.
	{"aioredlock", []step{
		a("EVAL", takeOrFail, "1", "@k", "t", "30000"), a("EVAL", takeOrFail, "1", "@k", "u", "30000"), a("EVAL", takeOrFail, "1", "@k", "t", "60000"),
		a("EVAL", ttlOrFail, "1", "@k", "u"), about(2, a("EVAL", ttlOrFail, "1", "@k", "t")), c("EXISTS @k"),
		a("EVAL", freeOrFail, "1", "@k", "u"), a("EVAL", freeOrFail, "1", "@k", "t"), a("EVAL", freeOrFail, "1", "@k", "t"), a("EVAL", ttlOrFail, "1", "@k", "t"),
		c("SET @k garbage"), a("EVAL", takeOrFail, "1", "@k", "t", "30000"), c("DEL @k"), a("EVAL", takeOrFail, "1", "@k", "t", "30000"),
	}},
}

const (
	takeOrExtend = `local free = redis.call('exists', KEYS[1]) == 0
if (free and ARGV[3] == 'yes') or redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
end`
	compareAndFree = `if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('del', KEYS[1])`
	holderAndTTL = `return {redis.call('get', KEYS[1]), redis.call('pttl', KEYS[1])}`
	takeOrFail   = `local holder = redis.call('get', KEYS[1])
if holder and holder ~= ARGV[1] then
  return redis.error_reply('HELD by another')
end
return redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])`
	freeOrFail = `local holder = redis.call('get', KEYS[1])
if not holder then
  return redis.status_reply('OK')
end
if holder ~= ARGV[1] then
  return redis.error_reply('HELD by another')
end
return redis.call('del', KEYS[1])`
	ttlOrFail = `local holder = redis.call('get', KEYS[1])
if holder ~= ARGV[1] then
  return redis.error_reply('HELD by another')
end
return redis.call('ttl', KEYS[1])`
)

package scripts

// The scripts for locks, each with its arguments in order; script_parts.go contains their
// common parts. A value is all that a master stores, a stem its token with the beginning of
// its tail, a rest what comes behind the lock (package tail).
var (
	// Acquire is SET NX GET for masters before 7.0. Bundle (bundle.go) does for each key
	// what this script or Release does. Arguments: value, expiry.
	Acquire = newScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PXAT', ARGV[2]) then return 1 end
return redis.call('GET', KEYS[1]) or 0`)

	// AcquireOrExtend: deadline, stem, lock, rest, expiry.
	AcquireOrExtend = newScript(parts + notAfter + `
local v = redis.call('GET', KEYS[1])
if not v then
  redis.call('SET', KEYS[1], ARGV[2] .. ARGV[3] .. ARGV[4], 'PXAT', ARGV[5])
  return 1
end
if not has(v, ARGV[2]) then return v end
return put(KEYS[1], v, nil, nil, ARGV[4], tonumber(ARGV[5]), 'raise')`)

	// Extend: deadline, stem, lock, rest, expiry, new stem, change (put), locks. The lock is
	// for a new token.
	Extend = newScript(extends + ofLock(8) + unlessOver + extended)

	// ExtendAnyway is Extend for a copy whose TTL is known to be over (V15).
	ExtendAnyway = newScript(extends + ofLock(8) + extended)

	// Renew prolongs what the attempt still has: deadline, stem, rest, expiry.
	Renew = newScript(parts + notAfter + ifOurs + ifOwn + `
put(KEYS[1], v, nil, nil, ARGV[3], tonumber(ARGV[4]), 'raise')
return 2`)

	// Shorten gives what the attempt still has an earlier expiry: the arguments of Renew.
	Shorten = newScript(parts + notAfter + ifOurs + ifOwn + `
put(KEYS[1], v, nil, nil, ARGV[3], tonumber(ARGV[4]), 'exact')
return 2`)

	// Heal: deadline, value, expiry.
	Heal = newScript(notAfter + `
if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PXAT', ARGV[3]) then return 1 end
return 0`)

	// Expire: deadline, rest, expiry. What is no string has no tail.
	Expire = newScript(parts + notAfter + `
local v = redis.pcall('GET', KEYS[1])
if not v then return 0 end
if type(v) == 'table' then return redis.call('PEXPIREAT', KEYS[1], ARGV[3]) * 2 end
` + unlessOver + `
put(KEYS[1], v, nil, nil, ARGV[2], tonumber(ARGV[3]), 'exact')
return 2`)

	// Store: deadline, value, expiry.
	Store = newScript(notAfter + `
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
return 2`)

	// StoreOver is Store for keys that exist (XX).
	StoreOver = newScript(hasTail + notAfter + `
local v = redis.pcall('GET', KEYS[1])
if type(v) == 'string' then
` + unlessOver + `
end
return redis.call('SET', KEYS[1], ARGV[2], 'XX', 'PXAT', ARGV[3]) and 2 or 0`)

	// Release: stem.
	Release = newScript(has + `
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if has(v, ARGV[1]) then redis.call('DEL', KEYS[1]) end
return v`)

	// ReleaseIf: deadline, stem, locks.
	ReleaseIf = newScript(has + lockOf + among + notAfter + ifOurs + ofLock(3) + `
redis.call('DEL', KEYS[1])
return v`)

	// Remove: deadline. It answers the value that it has deleted, 1 for a key that was no
	// lock, or 0.
	Remove = newScript(notAfter + `
local v = redis.pcall('GET', KEYS[1])
local deleted = redis.call('DEL', KEYS[1])
if type(v) == 'string' then return v end
return deleted`)

	// Rollback deletes what a try has created, and nobody got since: its ID twice.
	Rollback = newScript(`
local v = redis.call('GET', KEYS[1])
if not v or string.sub(v, -37, -22) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1`)

	// DeleteAgain repeats a deletion: the copies that it met, and when it began.
	DeleteAgain = newScript(hasTail + lockOf + met + `
local v = redis.call('GET', KEYS[1])
if not v or not met(v, ARGV[1], ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
return 1`)

	// ChangeAgain repeats what was stored over a copy: deadline, the copies that it met, when it
	// began, stem, lock, rest, expiry, and whether the copy keeps its times (keep).
	ChangeAgain = newScript(parts + met + notAfter + `
local v = redis.call('GET', KEYS[1])
if not v or not met(v, ARGV[2], ARGV[3]) then return 0 end
if ARGV[8] == 'keep' then
  put(KEYS[1], v, ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7]), 'keep')
else
  redis.call('SET', KEYS[1], ARGV[4] .. ARGV[5] .. ARGV[6], 'PXAT', ARGV[7])
end
return 2`)

	// Read answers value and remaining milliseconds.
	Read = newScript(`
return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}`)
)

// extends and extended are Extend, but for the check between them.
const (
	extends  = parts + among + notAfter + ifOurs
	extended = `
return put(KEYS[1], v, ARGV[6], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[7])`
)

// ifOwn goes on where the copy is the attempt's own, which begins the rest ARGV[3], or a bare
// token.
const ifOwn = `
if hasTail(v) and attemptOf(v) ~= string.sub(ARGV[3], 1, 8) then return -2 end
`

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

	// AcquireOrExtend: deadline, stem, lock, rest, expiry, limit.
	AcquireOrExtend = newScript(parts + notAfter + `
local v = redis.call('GET', KEYS[1])
if not v or has(v, ARGV[2]) and isOver(KEYS[1], v, ARGV[6]) then
  redis.call('SET', KEYS[1], ARGV[2] .. ARGV[3] .. ARGV[4], 'PXAT', ARGV[5])
  return 1
end
if not has(v, ARGV[2]) then return v end
return put(KEYS[1], v, nil, nil, ARGV[4], tonumber(ARGV[5]), 'raise')`)

	// Extend: deadline, stem, lock, rest, expiry, limit, new stem, change (put), locks. The
	// lock is for a new token.
	Extend = newScript(parts + among + notAfter + ifOurs + ofLock(9) + unlessOver(6) + `
return put(KEYS[1], v, ARGV[7], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[8])`)

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

	// Expire: deadline, rest, expiry, limit. What is no string has no tail.
	Expire = newScript(parts + notAfter + `
local v = redis.pcall('GET', KEYS[1])
if not v then return 0 end
if type(v) == 'table' then return redis.call('PEXPIREAT', KEYS[1], ARGV[3]) * 2 end
` + unlessOver(4) + `
put(KEYS[1], v, nil, nil, ARGV[2], tonumber(ARGV[3]), 'exact')
return 2`)

	// Store: deadline, value, expiry.
	Store = newScript(notAfter + `
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
return 2`)

	// StoreOver is Store for keys that exist (XX). After Store's arguments: the limit.
	StoreOver = newScript(lockOf + expiryOf + isOver + notAfter + `
local v = redis.pcall('GET', KEYS[1])
if type(v) == 'string' then
` + unlessOver(4) + `
end
return redis.call('SET', KEYS[1], ARGV[2], 'XX', 'PXAT', ARGV[3]) and 2 or 0`)

	// Release: stem.
	Release = newScript(has + `
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if has(v, ARGV[1]) then redis.call('DEL', KEYS[1]) end
return v`)

	// ReleaseIf: deadline, stem, limit, locks.
	ReleaseIf = newScript(has + lockOf + expiryOf + isOver + among + notAfter + ifOurs + ofLock(4) + unlessOver(3) + `
redis.call('DEL', KEYS[1])
return v`)

	// Clear deletes a copy that is over. Arguments: deadline, stem, limit.
	Clear = newScript(has + lockOf + expiryOf + isOver + notAfter + ifOurs + unlessOver(3) + `return 0`)

	// Remove: deadline, limit. It answers the value that it has deleted, 1 for a key that was
	// no lock, or 0.
	Remove = newScript(lockOf + expiryOf + isOver + notAfter + `
local v = redis.pcall('GET', KEYS[1])
if type(v) == 'string' then
` + unlessOver(2) + `
end
local deleted = redis.call('DEL', KEYS[1])
if type(v) == 'string' then return v end
return deleted`)

	// Rollback deletes what a try has created, and nobody got since: its ID twice.
	Rollback = newScript(`
local v = redis.call('GET', KEYS[1])
if not v or string.sub(v, -28, -13) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1`)

	// DeleteAgain repeats a deletion: the copies that it met.
	DeleteAgain = newScript(hasTail + lockOf + met + `
local v = redis.call('GET', KEYS[1])
if not v or not met(v, ARGV[1]) then return 0 end
redis.call('DEL', KEYS[1])
return 1`)

	// ChangeAgain repeats a change of token: deadline, the copies that it met, stem, lock,
	// rest, expiry, change (put).
	ChangeAgain = newScript(parts + met + notAfter + `
local v = redis.call('GET', KEYS[1])
if not v or not met(v, ARGV[2]) then return 0 end
put(KEYS[1], v, ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7])
return 2`)

	// Read answers value, remaining milliseconds and expiry.
	Read = newScript(expiryOf + `
return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]), expiryOf(KEYS[1])}`)
)

// ifOwn goes on where the copy is the attempt's own, which begins the rest ARGV[3], or a bare
// token.
const ifOwn = `
if hasTail(v) and attemptOf(v) ~= string.sub(ARGV[3], 1, 8) then return -2 end
`

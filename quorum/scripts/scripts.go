package scripts

// The scripts for locks, each with its arguments in order; script_parts.go contains their
// common parts.
var (
	// Acquire is SET NX GET for masters before 7.0. Bundle (bundle.go) does for each key
	// what this script or Release does. Arguments: token, expiry.
	Acquire = newScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PXAT', ARGV[2]) then return 1 end
return redis.call('GET', KEYS[1]) or 0`)

	// AcquireOrExtend: deadline, token, expiry of a copy that is prolonged and of one
	// that is created, and the least expiry that is not over.
	AcquireOrExtend = newScript(ifTaken + raised)

	// AcquireOrShorten: the same arguments, but the expiry may be an earlier one.
	AcquireOrShorten = newScript(ifTaken + `
local name = expiryOf(KEYS[1])
for i = 6, #ARGV do
  if name == tonumber(ARGV[i]) then redis.call('PEXPIREAT', KEYS[1], ARGV[4]) return 1 end
end` + shorten)

	// Extend: deadline, token, expiry, the least expiry that is not over.
	Extend = newScript(ifOurs + unlessOver(4) + raised)

	// Renew: deadline, token, expiry of a copy that is prolonged, the one that is the
	// copy's new name, the latest expiry that a raise makes its own, and those that may be the
	// old name (quorum/renew.go).
	Renew = newScript(ifOurs + expiryOf + rename + raisedUpTo(5))

	// Shorten: the arguments of Extend, but the expiry may be an earlier one; a fifth
	// argument is a new token.
	Shorten = newScript(ifOurs + unlessOver(4) + `
if ARGV[5] then redis.call('SET', KEYS[1], ARGV[5], 'KEEPTTL') end` + shorten)

	// Keep: likewise, with the token that it gets; the copy keeps its expiry, where that is
	// later (V13).
	Keep = newScript(ifOurs + unlessOver(4) + keepTTL + kept)

	// Tell: the arguments of Extend; the copy keeps its expiry, where that is later (V13), but
	// is not over where another redlockd gave it less (V15).
	Tell = newScript(ifOurs + unlessOver(4) + told)

	// Raise: the arguments of Keep, and the latest expiry that a raise makes its own; the copy
	// gets the expiry, or keeps a later one.
	Raise = newScript(ifOurs + unlessOver(4) + keepTTL + raisedUpTo(6))

	// Change: deadline, new token, expiry, and the tokens that it replaces.
	Change = newScript(ifAny + expiryOf + kept)

	// Heal: deadline, token, expiry.
	Heal = newScript(notAfter + `
if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PXAT', ARGV[3]) then return 1 end
return 0`)

	// Expire: deadline, expiry, and which copies are over (unlessEnded).
	Expire = newScript(notAfter + unlessEnded(3) + `
return redis.call('PEXPIREAT', KEYS[1], ARGV[2]) * 2`)

	// Store: deadline, token, expiry.
	Store = newScript(notAfter + `
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
return 2`)

	// StoreOver is Store for keys that exist (XX). After Store's arguments: which copies
	// are over (unlessEnded).
	StoreOver = newScript(notAfter + unlessEnded(4) + `
return redis.call('SET', KEYS[1], ARGV[2], 'XX', 'PXAT', ARGV[3]) and 2 or 0`)

	// Release: token.
	Release = newScript(`
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if v ~= ARGV[1] then return v end
redis.call('DEL', KEYS[1])
return 1`)

	// ReleaseMade releases a copy that one redlockd made: token, and its residue mod
	// @makers (V6).
	ReleaseMade = newScript(expiryOf + `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local e = expiryOf(KEYS[1])
if e < 0 or e % @makers ~= tonumber(ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
return 1`)

	// ReleaseOver: token, the least expiry that is not over.
	ReleaseOver = newScript(`
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if v ~= ARGV[1] then return v end
` + unlessOver(2) + `
redis.call('DEL', KEYS[1])
return 1`)

	// Clear deletes a copy that is over. Arguments: token, the least expiry that is not
	// over.
	Clear = newScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
` + unlessOver(2) + `return 0`)

	// ReleaseInTime: deadline, token, the least expiry that is not over; for masters
	// without a fence (M3).
	ReleaseInTime = newScript(ifOurs + unlessOver(3) + `
redis.call('DEL', KEYS[1])
return 1`)

	// RemoveInTime: deadline, and which copies are over (unlessEnded). It answers the
	// token that it has deleted, 1 for a key that was no lock, or 0.
	RemoveInTime = newScript(notAfter + unlessEnded(2) + `
local v = redis.pcall('GET', KEYS[1])
local deleted = redis.call('DEL', KEYS[1])
if type(v) == 'string' then return v end
return deleted`)

	// Rollback: token, and expiry of the copy that was created.
	Rollback = newScript(expiryOf + `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local e, exact = expiryOf(KEYS[1])
if not exact then return -1 end
if e ~= tonumber(ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
return 1`)

	// Read answers token, remaining milliseconds and expiry.
	Read = newScript(expiryOf + `
return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]), (expiryOf(KEYS[1]))}`)
)

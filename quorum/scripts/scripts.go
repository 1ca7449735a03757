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
	AcquireOrExtend = newScript(ifTaken + raise).or(newScript(ifTaken + raiseOld))

	// AcquireOrShorten: the same arguments, but the expiry may be an earlier one.
	AcquireOrShorten = newScript(ifTaken + setAside("3", `redis.call('PEXPIREAT', KEYS[1], x)`))

	// Extend: deadline, token, expiry, the least expiry that is not over.
	Extend = newScript(ifOurs + unlessOver("4") + raise).or(newScript(ifOurs + unlessOver("4") + raiseOld))

	// Renew: deadline, token, expiry of a copy that is prolonged, the one that is the
	// copy's new name, and those that may be its old name (quorum/renew.go).
	Renew = newScript(ifOurs + rename(`redis.call('PEXPIRETIME', KEYS[1])`) + raise).
		or(newScript(ifOurs + expiryOld + rename(`after + left`) + raiseOld))

	// Shorten: the arguments of Extend, but the expiry may be an earlier one; a fifth
	// argument is a new token.
	Shorten = newScript(ifOurs + unlessOver("4") + setAside("3", `
if ARGV[5] then redis.call('SET', KEYS[1], ARGV[5], 'PXAT', x)
else redis.call('PEXPIREAT', KEYS[1], x) end`))

	// Keep: likewise, with the token that it gets; the copy keeps its expiry, where that is
	// later (V13).
	Keep = newScript(ifOurs + unlessOver("4") + keepTTL + raiseKept).or(newScript(ifOurs + unlessOver("4") + keepTTL + raiseKeptOld))

	// Change: deadline, new token, expiry, and the tokens that it replaces.
	Change = newScript(ifAny + raiseKept).or(newScript(ifAny + raiseKeptOld))

	// Heal: deadline, token, expiry.
	Heal = newScript(notAfter + `
if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PXAT', ARGV[3]) then return 1 end
return 0`)

	// Expire: deadline, expiry, and which copies are over (unlessEnded).
	Expire = newScript(notAfter + unlessEnded(3) + setAside("2", `
if redis.call('PEXPIREAT', KEYS[1], x) == 0 then return 0 end`))

	// Store: deadline, token, expiry.
	Store = newScript(notAfter + setAside("3", `redis.call('SET', KEYS[1], ARGV[2], 'PXAT', x)`))

	// StoreOver is Store for keys that exist (XX). After Store's arguments: which copies
	// are over (unlessEnded).
	StoreOver = newScript(notAfter + unlessEnded(4) + setAside("3", `
if not redis.call('SET', KEYS[1], ARGV[2], 'XX', 'PXAT', x) then return 0 end`))

	// Release: token.
	Release = newScript(`
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if v ~= ARGV[1] then return v end
redis.call('DEL', KEYS[1])
return 1`)

	// ReleaseOver: token, the least expiry that is not over.
	ReleaseOver = newScript(`
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if v ~= ARGV[1] then return v end
` + unlessOver("2") + `
redis.call('DEL', KEYS[1])
return 1`)

	// Clear deletes a copy that is over. Arguments: token, the least expiry that is not
	// over.
	Clear = newScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
` + unlessOver("2") + `return 0`)

	// ReleaseInTime: deadline, token, the least expiry that is not over; for masters
	// without a fence (M3).
	ReleaseInTime = newScript(ifOurs + unlessOver("3") + `
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
	Rollback = newScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call('PEXPIRETIME', KEYS[1]) ~= tonumber(ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
return 1`).or(rollbackOldScript)

	// rollbackOldScript is Rollback for masters before 7.0.
	rollbackOldScript = newScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
` + expiryOld + `
if after + left ~= tonumber(ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
return 1`)

	// Read answers token, remaining milliseconds and expiry.
	Read = newScript(readExpiry + `
return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]), e}`)
)

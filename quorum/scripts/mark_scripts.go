package scripts

// The scripts for marks.
var (
	// Mark writes the mark ARGV[2] if the present mark is ARGV[1], or if there is none
	// and ARGV[1] is empty. ARGV[3] is the deadline in the master's own milliseconds, 0 is
	// none.
	Mark = newScript(`
local t = redis.call('TIME')
if ARGV[3] ~= '0' and t[1] * 1000 + math.floor(t[2] / 1000) > tonumber(ARGV[3]) then return 0 end
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`)

	// Peek reads the mark of database 0, and the seal of the connection's database. A script that
	// selects a database does not change the connection's.
	Peek = newScript(`
local seal = redis.call('GET', KEYS[1])
redis.call('SELECT', 0)
return {redis.call('GET', KEYS[1]), seal}`)

	// Seal enters a database in the mark of database 0 and seals it, if the mark still is
	// the one that was seen. Arguments: the database, the old and the new mark, the seal.
	Seal = newScript(`
redis.call('SELECT', 0)
if redis.call('GET', KEYS[1]) ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[3])
redis.call('SELECT', ARGV[1])
redis.call('SET', KEYS[1], ARGV[4])
return 1`)
)

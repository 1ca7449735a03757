package main

// scripts are by the name of the library.
var scripts = map[string][]script{
	"redislock 0.10, one key":  redislock(1),
	"redislock 0.10, two keys": redislock(2),
	"redlock-rb": {
		{"acquire", 1, redlockRuby, []string{"$token", "$ms", "yes"}},
		{"only prolong", 1, redlockRuby, []string{"$token", "$ms", "no"}},
		{"query", 1, `
			local value = redis.call('get', KEYS[1])
			return {value, redis.call('pttl', KEYS[1])}`, nil},
	},
	"libkv": {
		{"swap", 1, swapOrDrop, []string{"swap", "$key", `{"LastIndex":123456789}`, `{"Key":"k","LastIndex":123456790}`, "60"}},
		{"drop", 1, swapOrDrop, []string{"drop", "$key", `{"LastIndex":123456789}`}},
	},
	"Elixir Redlock": {
		{"extend", 1, `
			if redis.call('get', KEYS[1]) == ARGV[1] then
				return redis.call('pexpire', KEYS[1], ARGV[2], 'GT')
			end
			return redis.error_reply('NOT LOCKED')`, []string{"$token", "$ms"}},
	},
	"Redis::DistLock": {
		{"extend", 1, `return redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])`, []string{"$token", "$ms"}},
		{"release", 1, `
			local mine = redis.call('get', KEYS[1]) == ARGV[1]
			return mine and redis.call('del', KEYS[1]) or 0`, []string{"$token"}},
	},
	"go-zero": {
		{"acquire", 1, `
			if redis.call('GET', KEYS[1]) == ARGV[1] then
				redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
				return 'OK'
			else
				return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
			end`, []string{"$token", "$ms"}},
	},
	"alturkovic": {
		{"acquire", 1, `
			if redis.call('setnx', KEYS[1], ARGV[1]) == 1 then
				redis.call('pexpire', KEYS[1], ARGV[2])
				return 1
			end
			return nil`, []string{"$token", "$ms"}},
		{"extend", 1, `
			if redis.call('get', KEYS[1]) == ARGV[1] then
				redis.call('pexpire', KEYS[1], ARGV[2])
				return 1
			end
			return nil`, []string{"$token", "$ms"}},
		{"acquire two", 2, `
			local words = {}
			for i, key in ipairs(KEYS) do
				words[#words + 1] = key
				words[#words + 1] = ARGV[1]
			end
			if redis.call('msetnx', unpack(words)) == 0 then return nil end
			for i, key in ipairs(KEYS) do redis.call('pexpire', key, ARGV[2]) end
			return 1`, []string{"$token", "$ms"}},
	},
	"php-lock": {
		{"release", 1, `
			if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
			return redis.call('del', KEYS[1])`, []string{"$token"}},
	},
	"newer Laravel": {
		{"refresh", 1, refreshLaravel, []string{"$token", "60"}},
	},
	"redbeat": {
		{"extend", 1, `
			local held, rest = redis.call('get', KEYS[1]), redis.call('pttl', KEYS[1])
			if not held or held ~= ARGV[1] or rest < 0 then return 0 end
			redis.call('pexpire', KEYS[1], ARGV[2])
			return 1`, []string{"$token", "$ms", "0"}},
	},
	"Spring Integration, older": {
		{"unlock by DEL", 1, `
			if redis.call('GET', KEYS[1]) ~= ARGV[1] then return nil end
			redis.call('DEL', KEYS[1])
			return 1`, []string{"$token"}},
		{"unlock and publish", 1, `
			if redis.call('GET', KEYS[1]) == ARGV[1] then
				redis.call('UNLINK', KEYS[1])
				redis.call('PUBLISH', ARGV[2], KEYS[1])
				return 1
			end
			return nil`, []string{"$token", "a channel"}},
	},
}

// objects are the values of the libraries whose value is no token.
var objects = map[string]values{
	"libkv": {`{"Key":"k","Value":"bWU=","LastIndex":123456789}`, `{"Key":"k","Value":"eW91","LastIndex":987654321}`},
}

// swapOrDrop goes by a number in what it expects; its key is an argument.
const swapOrDrop = `
	local what, key, expected, new, seconds = unpack(ARGV)
	if redis.call('exists', key) == 0 then error('it is not there') end
	local held = cjson.decode(redis.call('get', key))
	if held.LastIndex ~= cjson.decode(expected).LastIndex then error('it has changed') end
	if what == 'drop' then redis.call('del', key) else redis.call('set', key, new, 'ex', seconds) end
	return 'OK'`

const redlockRuby = `
	local held = redis.call('get', KEYS[1])
	if held == ARGV[1] or (not held and ARGV[3] == 'yes') then
		return redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
	end
	if not held and ARGV[3] == 'no' then return nil end
	return nil`

const refreshLaravel = `
	if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
	if tonumber(ARGV[2]) > 0 then return redis.call('expire', KEYS[1], ARGV[2]) end
	return redis.call('persist', KEYS[1])`

// redislock is bsm/redislock's next version: any number of keys, and a token
// that is the beginning of the value.
func redislock(keys int) []script {
	return []script{
		{"obtain", keys, `
			local size, mine, free = tonumber(ARGV[2]), 0, 0
			for _, key in ipairs(KEYS) do
				local held = redis.call('get', key)
				if not held then free = free + 1
				elseif string.sub(held, 1, size) == string.sub(ARGV[1], 1, size) then mine = mine + 1 end
			end
			if free ~= #KEYS and mine ~= #KEYS then return nil end
			for _, key in ipairs(KEYS) do redis.call('set', key, ARGV[1], 'px', ARGV[3]) end
			return redis.status_reply('OK')`, []string{"$token", "22", "$ms"}},
		{"refresh", keys, `
			for _, key in ipairs(KEYS) do
				if redis.call('get', key) ~= ARGV[1] then return nil end
			end
			for _, key in ipairs(KEYS) do redis.call('pexpire', key, ARGV[2]) end
			return redis.status_reply('OK')`, []string{"$token", "$ms"}},
		{"release", keys, `
			for _, key in ipairs(KEYS) do
				if redis.call('get', key) ~= ARGV[1] then return nil end
			end
			redis.call('del', unpack(KEYS))
			return redis.status_reply('OK')`, []string{"$token"}},
		{"ttl", keys, `
			local least = 0
			for _, key in ipairs(KEYS) do
				if redis.call('get', key) ~= ARGV[1] then return nil end
				local rest = redis.call('pttl', key)
				if rest > 0 and (least == 0 or rest < least) then least = rest end
			end
			return least`, []string{"$token"}},
	}
}

// sequences are commands of libraries without scripts.
var sequences = map[string][]sequence{
	"SETNX with the time": {
		{"free", []string{"SETNX $key 4102444800.5", "SETNX $key 4102444801.5", "GET $key", "DEL $key", "DEL $key"}},
		{"taken over", []string{"SETNX $key 1000.5", "SETNX $key 4102444800.5", "GET $key", "GETSET $key 4102444800.5",
			"$again GETSET $key 4102444801.5", "GET $key", "DEL $key"}},
		{"WATCH and SET", []string{"SETNX $key 1000", "WATCH $key", "GET $key", "MULTI", "SET $key 4102444800", "EXEC", "GET $key", "DEL $key"}},
	},
	"php-lock": {
		{"acquire", []string{"set $key one px 30001 nx", "set $key two px 30001 nx", "GET $key", "DEL $key"}},
	},
	"WATCH, MULTI, EXEC": {
		{"extend by PSETEX", []string{"SET $key one NX PX 30000", "WATCH $key", "GET $key", "MULTI", "PSETEX $key 60000 one", "EXEC", "GET $key", "DEL $key"}},
		{"extend by SETEX", []string{"SET $key one NX EX 30", "WATCH $key", "GET $key", "MULTI", "SETEX $key 60 one", "EXEC", "GET $key", "DEL $key"}},
		{"extend by SET", []string{"SET $key one NX EX 30", "WATCH $key", "GET $key", "MULTI", "SET $key one PX 60000", "EXEC", "GET $key", "DEL $key"}},
		{"release", []string{"SET $key one NX PX 30000", "WATCH $key", "GET $key", "MULTI", "DEL $key", "EXEC", "GET $key"}},
		{"release by UNLINK", []string{"SET $key one NX PX 30000", "WATCH $key", "GET $key", "MULTI", "UNLINK $key", "EXEC", "GET $key"}},
		{"changed meanwhile", []string{"SET $key one NX PX 30000", "WATCH $key", "GET $key", "$again DEL $key", "$again SET $key two NX PX 30000",
			"MULTI", "DEL $key", "EXEC", "GET $key", "DEL $key"}},
		{"gone and back again", []string{"SET $key one NX PX 30000", "WATCH $key", "GET $key", "$again DEL $key", "$again SET $key one NX PX 30000",
			"MULTI", "DEL $key", "EXEC", "GET $key", "DEL $key"}},
		{"UNWATCH", []string{"SET $key one NX PX 30000", "WATCH $key", "GET $key", "UNWATCH", "$again DEL $key", "MULTI", "DEL $key", "EXEC"}},
		{"DISCARD", []string{"SET $key one NX PX 30000", "MULTI", "DEL $key", "DISCARD", "GET $key", "EXEC", "DEL $key"}},
		{"taken in MULTI", []string{"MULTI", "SET $key one NX PX 30000", "EXEC", "GET $key", "DEL $key"}},
		{"SETNX and EXPIRE", []string{"MULTI", "SETNX $key one", "EXPIRE $key 30", "EXEC", "GET $key", "DEL $key"}},
		{"two in EXEC", []string{"SET $key one NX PX 30000", "WATCH $key", "GET $key", "MULTI", "GET $key", "DEL $key", "EXEC", "GET $key"}},
		{"error in MULTI", []string{"MULTI", "SET $key", "EXEC", "GET $key"}},
		{"nothing in MULTI", []string{"MULTI", "EXEC"}},
	},
	"commands without a token": {
		{"an empty token", []string{"SET $key $empty NX PX 30000", "SET $key $empty NX PX 30000", "GET $key", "DEL $key"}},
		{"SET XX PX", []string{"SET $key one XX PX 30000", "SET $key one NX PX 30000", "SET $key two XX PX 30000", "GET $key", "DEL $key"}},
		{"SET GET", []string{"SET $key one NX GET PX 30000", "SET $key two NX GET PX 30000", "GET $key", "DEL $key"}},
		{"EXPIRE and its kin", []string{"EXPIRE $key 30", "SET $key one EX 30 NX", "EXPIRE $key 60", "PEXPIRE $key 60000", "EXPIRE $key 30 GT", "EXPIRE $key 90 GT", "DEL $key"}},
		{"EXISTS and so on", []string{"EXISTS $key", "TTL $key", "PTTL $key", "TYPE $key", "STRLEN $key", "SET $key one NX PX 30000",
			"EXISTS $key", "EXISTS $key $key", "TYPE $key", "STRLEN $key", "MGET $key $key", "UNLINK $key", "DEL $key"}},
		{"GETDEL", []string{"GETDEL $key", "SET $key one NX PX 30000", "GETDEL $key", "GET $key"}},
		{"until", []string{"SET $key one NX EXAT $until", "GET $key", "SET $key two NX EXAT $until", "DEL $key"}},
	},
}

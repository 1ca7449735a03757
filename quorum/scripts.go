package quorum

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
)

// serverScript is a script that runs on the masters, atomic on each. Its
// integers mean: 1 done (created, released), 2 prolonged, 3 longer, 0 absent, -1
// too late; a bulk string is the token in the way.
type serverScript struct {
	text, sha string
	// old does the same on masters before 7.0, where they need another one.
	old *serverScript
}

func newScript(text string) *serverScript {
	sum := sha1.Sum([]byte(text))
	return &serverScript{text: text, sha: hex.EncodeToString(sum[:])}
}

// or gives a script another one for masters before 7.0.
func (s *serverScript) or(old *serverScript) *serverScript {
	s.old = old
	return s
}

// notAfter ends a script that is carried out after ARGV[n], in the master's
// own milliseconds: a late one changes nothing (V6).
const notAfter = `
local t = redis.call('TIME')
if t[1] * 1000 + math.floor(t[2] / 1000) > tonumber(ARGV[1]) then return -1 end
`

// expiry is e, that of KEYS[1], below 0 where it has none. It is never more than it
// is, since TIME is read before PTTL.
const expiry = `
local t, e = redis.call('TIME'), redis.call('PTTL', KEYS[1])
if e >= 0 then e = t[1] * 1000 + math.floor(t[2] / 1000) + e end
`

// unlessOver deletes KEYS[1] and ends as if it were absent, where its expiry is less
// than ARGV[n]: what is left of a lock whose TTL is over (V15).
func unlessOver(n string) string {
	return `
if ARGV[` + n + `] ~= '0' then` + expiry + `
  if e >= 0 and e < tonumber(ARGV[` + n + `]) then redis.call('DEL', KEYS[1]) return 0 end
end
`
}

// unlessEnded is the same for whatever KEYS[1] holds, and where its expiry is less
// than ARGV[n+2], if it holds ARGV[n+1].
func unlessEnded(n int) string {
	any, token, told := strconv.Itoa(n), strconv.Itoa(n+1), strconv.Itoa(n+2)
	return `
if ARGV[` + any + `] ~= '0' or ARGV[` + told + `] ~= '0' then` + expiry + `
  if e >= 0 and (e < tonumber(ARGV[` + any + `]) or
      e < tonumber(ARGV[` + told + `]) and redis.pcall('GET', KEYS[1]) == ARGV[` + token + `]) then
    redis.call('DEL', KEYS[1])
    return 0
  end
end
`
}

const (
	// ifOurs goes on where KEYS[1] holds ARGV[2].
	ifOurs = notAfter + `
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if v ~= ARGV[2] then return v end
`
	// ifTaken creates it besides, also where it is over.
	ifTaken = notAfter + `
local v = redis.call('GET', KEYS[1])
if v == ARGV[2] and ARGV[5] ~= '0' then` + expiry + `
  if e >= 0 and e < tonumber(ARGV[5]) then v = false end
end
if not v then redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[4]) return 1 end
if v ~= ARGV[2] then return v end
`
	// ifAny gives it ARGV[2] where it holds one of ARGV[4] and those behind.
	ifAny = notAfter + `
local v, found = redis.call('GET', KEYS[1]), false
for i = 4, #ARGV do found = found or v == ARGV[i] end
if not found then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
`
)

// expiryOld finds the expiry of KEYS[1], after + left, on masters before 7.0, which
// do not tell it: PTTL and TIME are read until both were in one millisecond.
const expiryOld = `
local function now()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local before, left, after
for try = 1, 100 do
  before, left, after = now(), redis.call('PTTL', KEYS[1]), now()
  if before == after then break end
end
if before ~= after then return -1 end
`

// raise ends a script that prolongs: KEYS[1] gets the expiry ARGV[3], unless it
// has a later one, so that no script shortens what another one was told (V6).
// What keeps its expiry gets the remainder of what is prolonged, since the
// rollback of what has created it may be under way. It has a later one, and
// that is told, when the difference cannot come from remainders.
var raise = `
if redis.call('PEXPIREAT', KEYS[1], ARGV[3], 'GT') == 1 then return 2 end
local e = redis.call('PEXPIRETIME', KEYS[1])
` + keep

// raiseOld is the same for masters before 7.0, which do not tell the expiry:
// since TIME is read after PTTL, e is never less than it is.
var raiseOld = `
local e = redis.call('PTTL', KEYS[1])
if e >= 0 then
  t = redis.call('TIME')
  e = t[1] * 1000 + math.floor(t[2] / 1000) + e
  if e <= tonumber(ARGV[3]) then
    redis.call('PEXPIREAT', KEYS[1], ARGV[3])
    return 2
  end
end
` + keep

var keep = `
if e < 0 then return 3 end
local residues = ` + strconv.Itoa(residues) + `
local over = e % residues
if over > 0 then redis.call('PEXPIREAT', KEYS[1], e + residues - over) end
if e - tonumber(ARGV[3]) > 2 * residues then return 3 end
return 2`

var (
	// acquireScript is SET NX GET for masters older than 7.0. What bundleScript
	// (bundle.go) does for each key is this, and releaseScript.
	acquireScript = newScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PXAT', ARGV[2]) then return 1 end
return redis.call('GET', KEYS[1]) or 0`)

	// acquireOrExtendScript: deadline, token, expiry of what is prolonged and of
	// what is created, and the least that is not over.
	acquireOrExtendScript = newScript(ifTaken + raise).or(newScript(ifTaken + raiseOld))

	// acquireOrShortenScript: likewise, and may shorten.
	acquireOrShortenScript = newScript(ifTaken + `
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 2`)

	// extendScript: deadline, token, expiry, the least that is not over.
	extendScript = newScript(ifOurs + unlessOver("4") + raise).or(newScript(ifOurs + unlessOver("4") + raiseOld))

	// renewScript: deadline, token, expiry of what is prolonged, the name to be
	// changed and the new one (renew.go).
	renewScript = newScript(ifOurs + `
if redis.call('PEXPIRETIME', KEYS[1]) == tonumber(ARGV[4]) then
  redis.call('PEXPIREAT', KEYS[1], ARGV[5])
  return 2
end
` + raise).or(newScript(ifOurs + expiryOld + `
if after + left == tonumber(ARGV[4]) then
  redis.call('PEXPIREAT', KEYS[1], ARGV[5])
  return 2
end
` + raiseOld))

	// shortenScript: likewise, but the expiry may be an earlier one; and a new token
	// if there are five arguments.
	shortenScript = newScript(ifOurs + unlessOver("4") + `
if ARGV[5] then redis.call('SET', KEYS[1], ARGV[5], 'PXAT', ARGV[3])
else redis.call('PEXPIREAT', KEYS[1], ARGV[3]) end
return 2`)

	// changeScript: deadline, new token, expiry, and the tokens that it replaces.
	changeScript = newScript(ifAny + raise).or(newScript(ifAny + raiseOld))

	// healScript: deadline, token, expiry.
	healScript = newScript(notAfter + `
if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PXAT', ARGV[3]) then return 1 end
return 0`)

	// expireScript: deadline, expiry, and what is over (unlessEnded).
	expireScript = newScript(notAfter + unlessEnded(3) + `
if redis.call('PEXPIREAT', KEYS[1], ARGV[2]) == 0 then return 0 end
return 2`)

	// storeScript: deadline, token, expiry.
	storeScript = newScript(notAfter + `
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
return 2`)

	// storeOverScript is the same with XX, and behind it what is over (unlessEnded).
	storeOverScript = newScript(notAfter + unlessEnded(4) + `
if not redis.call('SET', KEYS[1], ARGV[2], 'XX', 'PXAT', ARGV[3]) then return 0 end
return 2`)

	// transactScript: deadline, and for each key: whether it must hold
	// something and what, what becomes of it (keep, delete, hold), the token
	// and the expiry. All as expected, or nothing is done.
	transactScript = newScript(notAfter + `
for i, k in ipairs(KEYS) do
  local at = i * 5 - 3
  local v = redis.call('GET', k)
  if ARGV[at] == '0' and v then return v end
  if ARGV[at] == '1' and not v then return 0 end
  if ARGV[at] == '1' and v ~= ARGV[at + 1] then return v end
end
for i, k in ipairs(KEYS) do
  local at = i * 5 - 3
  if ARGV[at + 2] == 'delete' then redis.call('DEL', k) end
  if ARGV[at + 2] == 'hold' then redis.call('SET', k, ARGV[at + 3], 'PXAT', ARGV[at + 4]) end
end
return 1`)

	// releaseScript: token.
	releaseScript = newScript(`
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if v ~= ARGV[1] then return v end
redis.call('DEL', KEYS[1])
return 1`)

	// releaseOverScript: token, the least expiry that is not over.
	releaseOverScript = newScript(`
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if v ~= ARGV[1] then return v end
` + unlessOver("2") + `
redis.call('DEL', KEYS[1])
return 1`)

	// clearScript: token, the least expiry that is not over.
	clearScript = newScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
` + unlessOver("2") + `return 0`)

	// releaseInTimeScript: deadline, token, the least expiry that is not over; for
	// masters without a fence (M3).
	releaseInTimeScript = newScript(ifOurs + unlessOver("3") + `
redis.call('DEL', KEYS[1])
return 1`)

	// removeInTimeScript: deadline, and what is over (unlessEnded).
	removeInTimeScript = newScript(notAfter + unlessEnded(2) + `return redis.call('DEL', KEYS[1])`)

	// rollbackScript: token, expiry of what was created.
	rollbackScript = newScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call('PEXPIRETIME', KEYS[1]) ~= tonumber(ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
return 1`).or(rollbackOldScript)

	// rollbackOldScript is the same for masters before 7.0.
	rollbackOldScript = newScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
` + expiryOld + `
if after + left ~= tonumber(ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
return 1`)

	// readScript answers token, remaining milliseconds and expiry.
	readScript = newScript(expiry + `
return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]), e}`)

	// markScript writes a mark where the present one is ARGV[1], or where
	// there is none when that is empty.
	markScript = newScript(`
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`)

	// generationScript raises the state of the list of masters in the marks of
	// all databases in use, which that of database 0 lists, where it is an
	// earlier one of the same line: the present database, number, phase, list,
	// list before. See mark.String for the fields.
	generationScript = newScript(`
local function raise(db)
  redis.call('SELECT', db)
  local f = {}
  for field in string.gmatch(redis.call('GET', KEYS[1]) or '', '%S+') do f[#f + 1] = field end
  if f[1] ~= '3' or #f ~= 24 then return '' end
  local n, p = tonumber(f[7]), tonumber(f[8])
  local earlier = n < tonumber(ARGV[2]) or n == tonumber(ARGV[2]) and p < tonumber(ARGV[3])
  if earlier and (f[9] == ARGV[4] or f[9] == ARGV[5] or p == 1 and f[10] == ARGV[5]) then
    f[7], f[8], f[9], f[10] = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
    redis.call('SET', KEYS[1], table.concat(f, ' '))
  end
  return f[16]
end
for db in string.gmatch(raise('0'), '%d+') do raise(db) end
raise(ARGV[1])
return 1`)

	// seatsScript writes later holders of seats to the marks of all databases in
	// use, which that of database 0 lists: hash:epoch:server:beat, separated by
	// commas.
	seatsScript = newScript(`
local function raise(db)
  redis.call('SELECT', db)
  local f = {}
  for field in string.gmatch(redis.call('GET', KEYS[1]) or '', '%S+') do f[#f + 1] = field end
  if f[1] ~= '3' or #f ~= 24 then return '' end
  local order, seats = {}, {}
  local function add(list)
    for name, epoch, server, beat in string.gmatch(list, '([^:,]+):(%d+):([^:,]+):(%d+)') do
      local s = seats[name]
      epoch = tonumber(epoch)
      if not s then order[#order + 1] = name end
      if not s or s.epoch < epoch or s.epoch == epoch and s.server < server then
        seats[name] = {epoch = epoch, server = server, beat = beat}
      end
    end
  end
  add(f[17])
  add(ARGV[1])
  local out = {}
  for i, name in ipairs(order) do
    local s = seats[name]
    out[i] = name .. ':' .. s.epoch .. ':' .. s.server .. ':' .. s.beat
  end
  f[17] = table.concat(out, ',')
  redis.call('SET', KEYS[1], table.concat(f, ' '))
  return f[16]
end
for db in string.gmatch(raise('0'), '%d+') do raise(db) end
redis.call('SELECT', 0)
return 1`)

	// peekScript reads database 0's mark from another one: its number.
	peekScript = newScript(`
redis.call('SELECT', 0)
local v = redis.call('GET', KEYS[1])
redis.call('SELECT', ARGV[1])
return v`)

	// listScript lists a database in database 0's mark and gives it its own,
	// both or none: database, old and new mark of 0, its mark.
	listScript = newScript(`
redis.call('SELECT', 0)
local ok = (redis.call('GET', KEYS[1]) or '') == ARGV[2]
if ok and ARGV[3] ~= ARGV[2] then redis.call('SET', KEYS[1], ARGV[3]) end
redis.call('SELECT', ARGV[1])
if not ok then return 0 end
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[4])
return 1`)
)

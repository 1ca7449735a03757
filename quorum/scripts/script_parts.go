package scripts

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/redlockd/redlockd/quorum/mark"
)

// Script is a script that runs on the masters, atomically on each. Its integer answers
// mean: 1 done (created, released), 2 prolonged, 3 the copy has no expiry, 0 absent, -1
// too late; a greater one is the later expiry that the copy has. A bulk string is the
// token in the way.
type Script struct {
	Text, SHA string
	// Old is the script that does the same on masters before 7.0; nil if they need no
	// other.
	Old *Script
}

func newScript(text string) *Script {
	sum := sha1.Sum([]byte(text))
	return &Script{Text: text, SHA: hex.EncodeToString(sum[:])}
}

// or sets the script for masters before 7.0.
func (s *Script) or(old *Script) *Script {
	s.Old = old
	return s
}

// notAfter ends a script that is carried out after ARGV[1], in the master's own
// milliseconds: it then changes nothing (V6).
const notAfter = `
local t = redis.call('TIME')
if t[1] * 1000 + math.floor(t[2] / 1000) > tonumber(ARGV[1]) then return -1 end
`

// readExpiry sets e to the expiry of KEYS[1], below 0 if it has none. e is never too
// great, since TIME is read before PTTL.
const readExpiry = `
local t, e = redis.call('TIME'), redis.call('PTTL', KEYS[1])
if e >= 0 then e = t[1] * 1000 + math.floor(t[2] / 1000) + e end
`

// isOver begins an if on the expiry e, by a limit of one or more numbers (V15): a copy is
// over if its expiry is less than the first, or is one of the others, whatever its residue.
func isOver(limit string) string {
	return `
  local given = false
  for expiry in string.gmatch(` + limit + `, ' (%d+)') do
    given = given or e <= tonumber(expiry) and e > expiry - ` + residues + `
  end
  if e >= 0 and (e < tonumber(string.match(` + limit + `, '%d+')) or given`
}

// unlessOver deletes KEYS[1] and ends as if it were absent, if its expiry is over by
// ARGV[n]: the rest of a lock whose TTL is over (V15). ARGV[n] is 0 for no such check.
func unlessOver(n string) string {
	return `
if ARGV[` + n + `] ~= '0' then` + readExpiry + isOver(`ARGV[`+n+`]`) + `) then redis.call('DEL', KEYS[1]) return 0 end
end
`
}

// unlessEnded is the same for whatever KEYS[1] holds: the second number is for the token
// ARGV[n+1].
func unlessEnded(n int) string {
	limit, token := `ARGV[`+strconv.Itoa(n)+`]`, `ARGV[`+strconv.Itoa(n+1)+`]`
	return `
if ` + limit + ` ~= '0' then` + readExpiry + isOver(limit) + ` and redis.pcall('GET', KEYS[1]) == ` + token + `) then
    redis.call('DEL', KEYS[1])
    return 0
  end
end
`
}

var residues = strconv.Itoa(mark.Residues)

var (
	// ifOurs goes on where KEYS[1] holds ARGV[2].
	ifOurs = notAfter + `
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if v ~= ARGV[2] then return v end
`
	// ifTaken is ifOurs, but creates KEYS[1] if it is absent, or if it holds ARGV[2] and
	// is over.
	ifTaken = notAfter + `
local v = redis.call('GET', KEYS[1])
if v == ARGV[2] and ARGV[5] ~= '0' then` + readExpiry + isOver(`ARGV[5]`) + `) then v = false end
end
if not v then redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[4]) return 1 end
if v ~= ARGV[2] then return v end
`
	// ifAny gives KEYS[1] the token ARGV[2] if it holds any of ARGV[4] and the following.
	ifAny = notAfter + `
local v, found = redis.call('GET', KEYS[1]), false
for i = 4, #ARGV do found = found or v == ARGV[i] end
if not found then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
`
)

// aside begins with a function that returns the expiry to set instead of x: a later one
// where the key k has about that one. Who gave it judges by it when its TTL is over, and
// what is set now may have less drift and end later (V15).
var aside = strings.ReplaceAll(`
local function aside(k, x)
  local t, left = redis.call('TIME'), redis.call('PTTL', k)
  local e = t[1] * 1000 + math.floor(t[2] / 1000) + left
  if left >= 0 and e >= tonumber(x) and e - x <= @ then return e + @ - e % @ end
  return tonumber(x)
end
`, "@", residues)

// setAside ends a script that sets the expiry ARGV[n], by commands on x. It answers x where
// that is another one.
func setAside(n, commands string) string {
	return aside + `
local x = aside(KEYS[1], ARGV[` + n + `])
` + commands + `
return x > tonumber(ARGV[` + n + `]) and x or 2`
}

// keepTTL gives KEYS[1] the token ARGV[5] and keeps its expiry.
const keepTTL = `
if ARGV[5] ~= v then redis.call('SET', KEYS[1], ARGV[5], 'KEEPTTL') end
`

// expiryOld finds the expiry of KEYS[1], after + left, on masters before 7.0, which have
// no PEXPIRETIME: it reads PTTL and TIME until both fall into one millisecond.
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

// rename gives KEYS[1] the expiry ARGV[4] and ends, if its expiry is one of the following.
func rename(expiry string) string {
	return `
local name = ` + expiry + `
for i = 5, #ARGV do
  if name == tonumber(ARGV[i]) then
    redis.call('PEXPIREAT', KEYS[1], ARGV[4])
    return 2
  end
end
`
}

// raise ends a script that prolongs: KEYS[1] gets the expiry ARGV[3], unless it
// has a later one, so that no script shortens what another one was told (V6).
// What keeps its expiry gets the remainder of what is prolonged, since the
// rollback of what has created it may be under way; and it gets a later one where it is
// about what it was to get, since who gave that judges by it when its TTL is over (V15).
// Which it is then, is answered.
var raise = findExpiry + keepExpiry(`over > 0 or e - ARGV[3] <= 2 * residues`)

// raiseKept is the same for what keeps its TTL, which is not to grow by that.
var raiseKept = findExpiry + keepExpiry(`over > 0`)

const findExpiry = `
if redis.call('PEXPIREAT', KEYS[1], ARGV[3], 'GT') == 1 then return 2 end
local e = redis.call('PEXPIRETIME', KEYS[1])
`

// raiseOld and raiseKeptOld are the same for masters before 7.0, which do not tell the
// expiry: it is between least and e. If these differ, the remainder is not known.
var (
	raiseOld     = findExpiryOld + keepExpiry(`over > 0 or e > least or e - ARGV[3] <= 2 * residues`)
	raiseKeptOld = findExpiryOld + keepExpiry(`over > 0 or e > least`)
)

const findExpiryOld = `
local least, e = redis.call('TIME'), redis.call('PTTL', KEYS[1])
if e >= 0 then
  least = least[1] * 1000 + math.floor(least[2] / 1000) + e
  t = redis.call('TIME')
  e = t[1] * 1000 + math.floor(t[2] / 1000) + e
  if e < tonumber(ARGV[3]) then
    redis.call('PEXPIREAT', KEYS[1], ARGV[3])
    return 2
  end
end
`

// keepExpiry makes the expiry e a later one under a condition.
func keepExpiry(later string) string {
	return `
if e < 0 then return 3 end
local residues = ` + residues + `
local over = e % residues
if ` + later + ` then
  e = e + residues - over
  redis.call('PEXPIREAT', KEYS[1], e)
end
return e`
}

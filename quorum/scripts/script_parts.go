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
// too late; a greater one is about the later expiry that the copy has (raise). A bulk string
// is the token in the way.
type Script struct{ Text, SHA string }

func newScript(text string) *Script {
	text = strings.NewReplacer("@residues", strconv.Itoa(mark.Residues), "@makers", strconv.Itoa(mark.Makers)).Replace(text)
	sum := sha1.Sum([]byte(text))
	return &Script{Text: text, SHA: hex.EncodeToString(sum[:])}
}

// notAfter ends a script that is carried out after ARGV[1], in the master's own
// milliseconds: it then changes nothing (V6).
const notAfter = `
local t = redis.call('TIME')
if t[1] * 1000 + math.floor(t[2] / 1000) > tonumber(ARGV[1]) then return -1 end
`

// expiryOf begins with a function that returns the expiry of the key k, below 0 if it has
// none, and whether that is exact. Masters before 7.0 have no PEXPIRETIME: there it reads
// PTTL and TIME until both fall into one millisecond. What is not exact is not too early,
// and has the residue 0, which nobody gives.
const expiryOf = `
local function expiryOf(k)
  local e = redis.pcall('PEXPIRETIME', k)
  if type(e) == 'number' then return e, true end
  local known = string.find(e.err, 'nknown')
  for try = 1, 100 do
    local before, left, after = redis.call('TIME'), redis.call('PTTL', k), redis.call('TIME')
    if left < 0 then return left, true end
    before, after = before[1] * 1000 + math.floor(before[2] / 1000), after[1] * 1000 + math.floor(after[2] / 1000)
    e = after + left
    if known and before == after then return e, true end
  end
  return e + -e % @residues, false
end
`

// isOver begins with a function that reports whether the copy k is over by a limit of one
// or more numbers (V15): if its expiry is less than the first, or has the maker of one of
// the others and is less than @residues before it ([mark.SameGrant]).
const isOver = expiryOf + `
local function isOver(k, limit)
  if limit == '0' then return false end
  local e = expiryOf(k)
  local over = e < tonumber(string.match(limit, '%d+'))
  for given in string.gmatch(limit, ' (%d+)') do
    over = over or e <= tonumber(given) and e > given - @residues and given % @makers > 0 and e % @makers == given % @makers
  end
  return e >= 0 and over
end
`

// unlessOver deletes KEYS[1] and ends as if it were absent, if it is over by ARGV[n]: the
// rest of a lock whose TTL is over (V15). ARGV[n] is 0 for no such check.
func unlessOver(n int) string {
	return isOver + `
if isOver(KEYS[1], ARGV[` + strconv.Itoa(n) + `]) then redis.call('DEL', KEYS[1]) return 0 end
`
}

// unlessEnded is the same for whatever KEYS[1] holds: the second number is for the token
// ARGV[n+1].
func unlessEnded(n int) string {
	limit, token := `ARGV[`+strconv.Itoa(n)+`]`, `ARGV[`+strconv.Itoa(n+1)+`]`
	return isOver + `
if isOver(KEYS[1], ` + limit + `) and redis.pcall('GET', KEYS[1]) == ` + token + ` then redis.call('DEL', KEYS[1]) return 0 end
`
}

const (
	// ifOurs goes on where KEYS[1] holds ARGV[2].
	ifOurs = notAfter + `
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if v ~= ARGV[2] then return v end
`
	// ifTaken is ifOurs, but creates KEYS[1] if it is absent, or if it holds ARGV[2] and
	// is over.
	ifTaken = notAfter + isOver + `
local v = redis.call('GET', KEYS[1])
if not v or v == ARGV[2] and isOver(KEYS[1], ARGV[5]) then
  redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[4])
  return 1
end
if v ~= ARGV[2] then return v end
`
	// ifAny gives KEYS[1] the token ARGV[2] if it holds any of ARGV[4] and the following.
	ifAny = notAfter + `
local v, found = redis.call('GET', KEYS[1]), false
for i = 4, #ARGV do found = found or v == ARGV[i] end
if not found then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
`
	// keepTTL gives KEYS[1] the token ARGV[5] and keeps its expiry.
	keepTTL = `
if ARGV[5] ~= v then redis.call('SET', KEYS[1], ARGV[5], 'KEEPTTL') end
`
	// shorten gives KEYS[1] the expiry ARGV[3], and ends.
	shorten = `
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 2`
	// rename gives KEYS[1] the expiry ARGV[4] and ends, if its expiry is one of ARGV[6] and
	// the following.
	rename = `
local name, exact = expiryOf(KEYS[1])
if not exact then return -1 end
for i = 6, #ARGV do
  if name == tonumber(ARGV[i]) then
    redis.call('PEXPIREAT', KEYS[1], ARGV[4])
    return 2
  end
end
`
)

// raise begins with a function that prolongs: the key k gets the expiry x, unless it has a
// later one, so that no script shortens what another one was told (V6). What keeps a later
// expiry gets the next one with the residue of x if its own names an attempt, whose
// rollback may be under way; and also if another redlockd gave it, which would delete the
// copy when its own TTL is over (V15) or by a release that it has yet to repeat (V8), though
// ours may end later: but not what lasts for more than about longest, since a quarantine
// would not wait for it. longest is x unless it is given: what lasts longer is then shortened
// (V6). What keeps its TTL is not to grow by that (V13): with another token, which
// nobody has told (does is 'swap'), it stays as it is; with the same one ('tell') what
// another redlockd gave gets the residue of nobody, and stays so. The function returns what
// the script answers: of a later expiry twice what the copy has now, and 1 more if another
// redlockd gave what it had.
const raise = `
local function raise(k, x, does, longest)
  local e = expiryOf(k)
  if e < 0 then return 3 end
  if e < x then
    redis.call('PEXPIREAT', k, x)
    return 2
  end
  local residue, own = e % @residues, x % @residues
  if does == 'tell' and residue % @makers ~= own % @makers then own = @makers end
  if residue < @makers or does ~= 'swap' and (does == 'tell' or e - (longest or x) <= 2 * @residues) and residue ~= own then
    e = e + 1 + (own - e - 1) % @residues
    redis.call('PEXPIREAT', k, e)
  end
  return 2 * e + (residue % @makers == x % @makers and 0 or 1)
end
`

// raised, told and kept end a script that prolongs KEYS[1] to ARGV[3]. Scripts that have
// expiryOf already take these; the others begin with it.
const (
	raised = raise + `
return raise(KEYS[1], tonumber(ARGV[3]), 'raise')`
	told = raise + `
return raise(KEYS[1], tonumber(ARGV[3]), 'tell')`
	kept = raise + `
return raise(KEYS[1], tonumber(ARGV[3]), 'swap')`
)

// raisedUpTo is raised with ARGV[n] as longest.
func raisedUpTo(n int) string {
	return raise + `
return raise(KEYS[1], tonumber(ARGV[3]), 'raise', tonumber(ARGV[` + strconv.Itoa(n) + `]))`
}

package scripts

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/redlockd/redlockd/quorum/tail"
)

// Script is a script that runs on the masters, atomically on each. What it is asked to change
// it answers as it was: the value of the key, or an array of that if the copy has kept a later
// expiry. The caller sees by its token whether it was changed. Integers mean: 1 done (created,
// deleted), 2 done to a copy that was there, 0 absent, -1 too late, -2 a copy with the token,
// but of another lock or attempt.
type Script struct{ Text, SHA string }

func newScript(text string) *Script {
	text = strings.NewReplacer("@magic", tail.Magic, "@tolerance", strconv.Itoa(Tolerance)).Replace(text)
	sum := sha1.Sum([]byte(text))
	return &Script{Text: text, SHA: hex.EncodeToString(sum[:])}
}

// Tolerance is by how many milliseconds an expiry may be later than the one asked for and
// still count as that: two readings of a clock differ by less.
const Tolerance = 128

// notAfter ends a script that is carried out after ARGV[1], in the master's own
// milliseconds: it then changes nothing (V6). 0 is no deadline.
const notAfter = `
if ARGV[1] ~= '0' then
  local t = redis.call('TIME')
  if t[1] * 1000 + math.floor(t[2] / 1000) > tonumber(ARGV[1]) then return -1 end
end
`

// hasTail, has, lockOf, attemptOf and endOf cut the value v of a copy as package tail says. has
// reports whether v has the token of a stem: of a bare token too.
const (
	hasTail = `
local function hasTail(v) return string.sub(v, -32, -29) == '@magic' end
`
	has = hasTail + `
local function has(v, stem)
  return string.sub(v, 1, -29) == stem or not hasTail(v) and v .. '@magic' == stem
end
`
	lockOf = `
local function lockOf(v) return string.sub(v, -28, -21) end
local function attemptOf(v) return string.sub(v, -20, -13) end
`
)

// expiryOf begins with a function that returns the expiry of the key k, below 0 if it has
// none. Masters before 7.0 have no PEXPIRETIME; what is computed there may be a little late,
// but not early.
const expiryOf = `
local function expiryOf(k)
  local e = redis.pcall('PEXPIRETIME', k)
  if type(e) == 'number' then return e end
  local left = redis.call('PTTL', k)
  local t = redis.call('TIME')
  return left < 0 and left or t[1] * 1000 + math.floor(t[2] / 1000) + left
end
`

// isOver begins with a function that reports whether the copy k with the value v is over by a
// limit (V15, [outbox.Limits]): by its expiry, or because the attempt that gave it, until the
// end that it gave, is over.
const isOver = `
local function isOver(k, v, limit)
  if limit == '0' then return false end
  local any, attempt, till = string.match(limit, '^(%d+) ?(%S*) ?(%w*)$')
  if attempt ~= '' and attemptOf(v) == attempt and tonumber(string.sub(v, -12, -4), 36) <= tonumber(till, 36) then return true end
  local e = expiryOf(k)
  return e >= 0 and e < tonumber(any)
end
`

// put begins with a function that gives the copy k, which has the value v, to an attempt.
// stem is its new token, nil for the one that it has, which keeps its lock; a bare token stays
// bare. rest is the end of its new tail, x its expiry. If the change is 'raise' the copy gets
// the later of both expiries, ends and graces, each for itself, so that no script shortens what
// another one was told (V6); if it is 'keep' it keeps all three (V13); else it gets those
// given. The function returns what the script answers.
const put = `
local function later(was, is) return tonumber(was, 36) > tonumber(is, 36) and was or is end
local function put(k, v, stem, lock, rest, x, how)
  local bare = not hasTail(v)
  local same = not stem or has(v, stem)
  local e = how == 'raise' and expiryOf(k) or 0
  local stays = how == 'keep' or how == 'raise' and (e < 0 or e >= x)
  if bare and same then
    if not stays then redis.call('PEXPIREAT', k, x) end
  else
    if same then stem, lock = string.sub(v, 1, -29), lockOf(v) end
    if not bare and how == 'keep' then rest = string.sub(rest, 1, 8) .. string.sub(v, -12) end
    if not bare and how == 'raise' then
      rest = string.sub(rest, 1, 8) .. later(string.sub(v, -12, -4), string.sub(rest, 9, 17)) .. later(string.sub(v, -3), string.sub(rest, 18))
    end
    if stays then redis.call('SET', k, stem .. lock .. rest, 'KEEPTTL') else redis.call('SET', k, stem .. lock .. rest, 'PXAT', x) end
  end
  if how == 'raise' and (e < 0 or e - x > @tolerance) then return {v} end
  return v
end
`

// parts is all of the above that a script needs which gives copies to an attempt.
const parts = has + lockOf + expiryOf + isOver + put

// unlessOver deletes KEYS[1], which has the value v, and ends as if it were absent, if it is
// over by ARGV[n]: the rest of a lock whose TTL is over (V15).
func unlessOver(n int) string {
	return `
if isOver(KEYS[1], v, ARGV[` + strconv.Itoa(n) + `]) then redis.call('DEL', KEYS[1]) return 0 end
`
}

// ofLock ends a script that meets a copy of another lock than those of ARGV[n], 8 bytes each;
// if that is empty any will do. A bare token has none.
func ofLock(n int) string {
	return `
if ARGV[` + strconv.Itoa(n) + `] ~= '' and hasTail(v) and not among(lockOf(v), ARGV[` + strconv.Itoa(n) + `]) then return -2 end
`
}

// among begins with a function that reports whether a lock is one of some.
const among = `
local function among(lock, locks)
  for i = 1, #locks, 8 do
    if string.sub(locks, i, i + 7) == lock then return true end
  end
  return false
end
`

// met begins with a function that reports whether the copy v is one of those that a won
// operation met, given by their locks and attempts, 16 bytes each, or one of these locks as it
// was created (V8).
const met = `
local function met(v, those)
  local lock, attempt = lockOf(v), attemptOf(v)
  for i = 1, #those, 16 do
    if string.sub(those, i, i + 7) == lock and (lock == attempt or string.sub(those, i + 8, i + 15) == attempt) then return hasTail(v) end
  end
  return false
end
`

// ifOurs goes on where KEYS[1] has the stem ARGV[2].
const ifOurs = `
local v = redis.call('GET', KEYS[1])
if not v then return 0 end
if not has(v, ARGV[2]) then return v end
`

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
local now
if ARGV[1] ~= '0' then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
  if now > tonumber(ARGV[1]) then return -1 end
end
`

// hasTail, has, lockOf and attemptOf cut the value v of a copy as package tail says. has
// reports whether v has the token of a stem: of a bare token too.
const (
	hasTail = `
local function hasTail(v) return string.sub(v, -40, -38) == '@magic' end
`
	has = hasTail + `
local function has(v, stem)
  return string.sub(v, 1, -38) == stem or not hasTail(v) and v .. '@magic' == stem
end
`
	lockOf = `
local function lockOf(v) return string.sub(v, -37, -30) end
local function attemptOf(v) return string.sub(v, -29, -22) end
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

// unlessOver ends a script as if the copy with the value v were absent, if its client's TTL is
// over (V15, [tail.Tail.Over]). The copy stays until its expiry.
const unlessOver = `
if hasTail(v) and now > tonumber(string.sub(v, -12, -4), 36) + tonumber(string.sub(v, -3), 36) then return 0 end
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
    if same then stem, lock = string.sub(v, 1, -38), lockOf(v) end
    if not bare and how == 'keep' then rest = string.sub(rest, 1, 17) .. string.sub(v, -12) end
    if not bare and how == 'raise' then
      rest = string.sub(rest, 1, 17) .. later(string.sub(v, -12, -4), string.sub(rest, 18, 26)) .. later(string.sub(v, -3), string.sub(rest, 27))
    end
    if stays then redis.call('SET', k, stem .. lock .. rest, 'KEEPTTL') else redis.call('SET', k, stem .. lock .. rest, 'PXAT', x) end
  end
  if how == 'raise' and (e < 0 or e - x > @tolerance) then return {v} end
  return v
end
`

// parts is all of the above that a script needs which gives copies to an attempt.
const parts = has + lockOf + expiryOf + put

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
// operation met, given by their locks and attempts, 16 bytes each; or has one of these locks, and
// was given to nobody since its creation, or to an attempt that began before the operation
// did, by the master's own clock (V8).
const met = `
local function met(v, those, before)
  local lock, attempt = lockOf(v), attemptOf(v)
  local earlier = lock == attempt or hasTail(v) and tonumber(string.sub(v, -21, -13), 36) < tonumber(before)
  for i = 1, #those, 16 do
    if string.sub(those, i, i + 7) == lock and (earlier or string.sub(those, i + 8, i + 15) == attempt) then return hasTail(v) end
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

package scripts

// Change carries out effects (package outbox), one for each key: all of them, if each key meets
// what it must, or none. Its arguments are the deadline in the master's own milliseconds, 0 for
// none, and for each key: what it must meet, the stem and the IDs that this goes by; what it
// does, and the stem, lock, rest and expiry of the copy that it gives. A rest is what comes
// behind the lock in a tail.
//
// It answers the values that the keys had, with 1 behind them if a copy has kept an expiry that is
// later by more than the tolerance; where nothing was done an integer instead, 0 absent, -1 too
// late, -2 a copy with the token but of another lock or attempt; or the value that refuses.
var Change = newScript(notAfter + meets + does + `
return was`)

// notAfter ends a script that is carried out after its deadline: it changes nothing (V6).
const notAfter = `
local sub, num, now = string.sub, tonumber
if ARGV[1] ~= '0' then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
  if now > num(ARGV[1]) then return -1 end
end
`

// meets ends the script where a key is not as it must be. Those are copies that an operation has
// met, given by lock and attempt; or these locks as they were created, or as an attempt has them
// that began before the operation did, by the master's own clock (V8). A bare copy has the
// lock 0. What is over is absent for whoever needs a living copy, as a renewal does, and stays
// until its expiry (V15, [tail.Tail.Over]).
const meets = `
local was, at = {}, 2
for i, k in ipairs(KEYS) do
  local must, stem, ids = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local any = must == 'anything' or must == 'present'
  local v = (any and redis.pcall or redis.call)('GET', k)
  local tailed = type(v) == 'string' and @tailed
  if must == 'nothing' then
    if v then return v end
  elseif not v then
    if must ~= 'free' and must ~= 'anything' then return 0 end
  elseif must == 'those' then
    local its, lock = sub(v, -37, -22), @lock
    local earlier = tailed and (lock == @attempt or num(@since, 36) < num(stem))
    local met = false
    for n = 1, #ids, 16 do
      met = met or sub(ids, n, n + 15) == its or earlier and sub(ids, n, n + 7) == lock
    end
    if not tailed or not met then return 0 end
  else
    if not any and not @has(stem) then return v end
    if ids ~= '' and (tailed or must ~= 'own') then
      local id, met = not tailed and '00000000' or must == 'own' and @attempt or @lock, false
      for n = 1, #ids, 8 do met = met or sub(ids, n, n + 7) == id end
      if not met then return -2 end
    end
    local living = must == 'living' or must == 'present' or must == 'own' and ARGV[at + 3] == 'raise'
    if tailed and living and now > num(@end, 36) + num(@grace, 36) then return 0 end
  end
  was[i], at = v, at + 8
end
`

// does changes the keys. A copy whose token stays keeps its lock, and a bare token stays bare.
// What is raised gets the later of both expiries, ends and graces, each for itself, so that no
// script shortens what another one was told (V6); what keeps its TTL keeps all three (V13), but no
// copy that redlockd stores is without an expiry. Masters before 7.0 have no PEXPIRETIME; what is
// computed there may be a little late, but not early.
const does = `
at = 2
for i, k in ipairs(KEYS) do
  local does, stem, lock, rest, x = unpack(ARGV, at + 3, at + 7)
  local v = was[i]
  local tailed = type(v) == 'string' and @tailed
  if does == 'leave' then
  elseif does == 'delete' then
    redis.call('DEL', k)
  elseif does == 'store' or not v then
    redis.call('SET', k, stem .. lock .. rest, 'PXAT', x)
  elseif type(v) == 'table' then
    redis.call('PEXPIREAT', k, x)
  else
    local same, e = stem == '' or @has(stem), 0
    local bare = same and not tailed
    if does == 'raise' or not tailed then
      e = redis.pcall('PEXPIRETIME', k)
      if type(e) ~= 'number' then
        local left, t = redis.call('PTTL', k), redis.call('TIME')
        e = left < 0 and left or t[1] * 1000 + math.floor(t[2] / 1000) + left
      end
    end
    local stays = (e >= 0 or bare) and (does == 'keep' or does == 'raise' and (e < 0 or e >= num(x)))
    if not bare then
      if same then stem, lock = sub(v, 1, -38), @lock end
      if tailed and does == 'keep' then rest = sub(rest, 1, 17) .. @times end
      if tailed and does == 'raise' then
        local last, grace = sub(rest, 18, 26), sub(rest, 27)
        if num(@end, 36) > num(last, 36) then last = @end end
        if num(@grace, 36) > num(grace, 36) then grace = @grace end
        rest = sub(rest, 1, 17) .. last .. grace
      end
      if stays then redis.call('SET', k, stem .. lock .. rest, 'KEEPTTL') else redis.call('SET', k, stem .. lock .. rest, 'PXAT', x) end
    elseif not stays then
      redis.call('PEXPIREAT', k, x)
    end
    if does == 'raise' and (e < 0 and bare or e - num(x) > @tolerance) then was[#KEYS + 1] = 1 end
  end
  was[i], at = type(v) == 'string' and v or v and 1, at + 8
end
`

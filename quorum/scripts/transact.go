package scripts

// Transact: deadline, and for each key: whether it must hold something (1) or be absent (0),
// the stem that it must hold and its lock (Extend's locks); what becomes of it: none, delete,
// hold, or a change of put; its new stem, lock, rest and expiry. If any key is not as expected,
// nothing is done. It answers the values that the keys had.
var Transact = newScript(parts + among + notAfter + `
local was = {}
for i, k in ipairs(KEYS) do
  local at = i * 8 - 6
  local v = redis.call('GET', k)
  if ARGV[at] == '0' and v then return v end
  if ARGV[at] == '1' and not v then return 0 end
  if ARGV[at] == '1' and not has(v, ARGV[at + 1]) then return v end
  if ARGV[at + 2] ~= '' and hasTail(v) and not among(lockOf(v), ARGV[at + 2]) then return -2 end
  was[i] = v
end
for i, k in ipairs(KEYS) do
  local at = i * 8 - 3
  local does, stem, lock, rest, x = unpack(ARGV, at, at + 4)
  if (does == 'keep' or does == 'raise') and expiryOf(k) < 0 then does = 'hold' end
  if does == 'delete' then
    redis.call('DEL', k)
  elseif does == 'hold' then
    redis.call('SET', k, stem .. lock .. rest, 'PXAT', x)
  elseif does ~= 'none' then
    put(k, was[i], stem, lock, rest, tonumber(x), does)
  end
end
return was`)

package scripts

// Bundle carries out several acquires and releases. Its keys are those of the acquires,
// then those of the releases, each key once. Its arguments are the number of acquires,
// the value and expiry of each, then the stem of each release. For each key it answers what
// Acquire or Release would. Every call from a script costs a master as much as the
// look-up that it does, so one call reads all keys and one deletes them. MGET answers nil
// for a key that is no string, which SET and GET then detect. Where redlockd has no right
// to MGET, each key is read by itself.
var Bundle = newScript(has + `
local held, out, gone, at = redis.pcall('MGET', unpack(KEYS)), {}, {}, {}
if held.err then
  for i, k in ipairs(KEYS) do held[i] = redis.pcall('GET', k) end
end
local keys, acquires, releases = #KEYS, tonumber(ARGV[1]), 0
for i = 1, acquires do
  local v = held[i] or redis.pcall('SET', KEYS[i], ARGV[2 * i], 'NX', 'PXAT', ARGV[2 * i + 1])
  if not v then v = redis.pcall('GET', KEYS[i]) elseif v.ok then v = 1 end
  out[i] = v or 0
end
for i = acquires + 1, keys do
  local v = held[i] or redis.pcall('GET', KEYS[i]) or 0
  out[i] = v
  if type(v) == 'string' and has(v, ARGV[acquires + i + 1]) then
    releases = releases + 1
    gone[releases], at[releases] = KEYS[i], i
  end
end
if releases > 0 then
  local done = redis.pcall('DEL', unpack(gone))
  if type(done) == 'table' then
    for _, i in ipairs(at) do out[i] = done end
  end
end
return out`)

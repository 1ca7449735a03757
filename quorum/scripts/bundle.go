package scripts

// Bundle carries out several acquires and releases. Its keys are those of the acquires,
// then those of the releases, each key once. Its arguments are the number of acquires,
// the value and expiry of each, then the stem of each release. For each key it answers the
// value that was there, 1 for what an acquire has stored, 0 where a release found nothing. Every call from a script costs a master as much as the look-up that it does,
// so one call reads all keys of releases and one deletes them. MGET answers nil for a key that is
// no string, which GET then detects. Where redlockd has no right to MGET, each key is read by
// itself.
var Bundle = newScript(`
local out, acquires, keys, KEYS, ARGV, pcall = {}, tonumber(ARGV[1]), #KEYS, KEYS, ARGV, redis.pcall
for i = 1, acquires do
  out[i] = pcall('SET', KEYS[i], ARGV[2 * i], 'NX', 'GET', 'PXAT', ARGV[2 * i + 1]) or 1
end
if acquires == keys then return out end
local sub, held, gone = string.sub, pcall('MGET', unpack(KEYS, acquires + 1)), {}
if held.err then held = {} end
for i = acquires + 1, keys do
  local v, stem = held[i - acquires] or pcall('GET', KEYS[i]) or 0, ARGV[i + acquires + 1]
  out[i] = v
  if type(v) == 'string' and @has(stem) then gone[#gone + 1] = KEYS[i] end
end
if #gone > 0 then
  local done, n = pcall('DEL', unpack(gone)), 1
  for i = acquires + 1, type(done) == 'table' and keys or 0 do
    if KEYS[i] == gone[n] then out[i], n = done, n + 1 end
  end
end
return out`)

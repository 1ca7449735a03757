package scripts

// Bundle carries out several releases. Its keys differ; its arguments are the stem of each. For each
// key it answers what Release would. Every call from a script costs a master as much as the look-up
// that it does, so one call reads all keys and one deletes them. MGET answers nil for a key that is
// no string, which GET then detects. Where redlockd has no right to MGET, each key is read by
// itself.
var Bundle = newScript(`
local KEYS, ARGV, pcall, sub, gone = KEYS, ARGV, redis.pcall, string.sub, {}
local out = pcall('MGET', unpack(KEYS))
if out.err then out = {} end
for i = 1, #KEYS do
  local v, stem = out[i] or pcall('GET', KEYS[i]) or 0, ARGV[i]
  out[i] = v
  if type(v) == 'string' and @has(stem) then gone[#gone + 1] = KEYS[i] end
end
if #gone > 0 then
  local done, n = pcall('DEL', unpack(gone)), 1
  for i = 1, type(done) == 'table' and #KEYS or 0 do
    if KEYS[i] == gone[n] then out[i], n = done, n + 1 end
  end
end
return out`)

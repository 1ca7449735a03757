package scripts

// Bundle carries out several releases. Its arguments are their keys, which differ, and then the
// stem of each. The keys are not declared, since Redis rejects a whole script for one declared
// key that the user has no right to. For each key it answers what Release would. Every call from a
// script costs a master as much as the look-up that it does, so one call reads all keys and one
// deletes them. MGET answers nil for a key that is no string, which GET then detects. Where
// redlockd lacks a right to MGET or DEL, or to one of the keys, each is read or deleted by itself.
var Bundle = newScript(`
local ARGV, n, pcall, sub, gone = ARGV, #ARGV / 2, redis.pcall, string.sub, {}
local out = pcall('MGET', unpack(ARGV, 1, n))
if out.err then out = {} end
for i = 1, n do
  local v, stem = out[i] or pcall('GET', ARGV[i]) or 0, ARGV[n + i]
  out[i] = v
  if type(v) == 'string' and @has(stem) then gone[#gone + 1] = ARGV[i] end
end
if #gone > 0 and type(pcall('DEL', unpack(gone))) == 'table' then
  local at = 1
  for i = 1, n do
    if ARGV[i] == gone[at] then
      local done = pcall('DEL', gone[at])
      if type(done) == 'table' then out[i] = done end
      at = at + 1
    end
  end
end
return out`)

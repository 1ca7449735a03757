package scripts

// Transact: deadline, and for each key: whether it must hold something (1) or be absent (0)
// and the token that it must hold; what becomes of it (keep, delete, hold, or swap, tell and
// raise, which keep a later expiry), its new token and its expiry; then the latest expiry that
// a raise makes its own. If any key is not as expected, nothing is done. It answers 1, or for
// each key what raise does, or 0.
var Transact = newScript(notAfter + expiryOf + raise + `
for i, k in ipairs(KEYS) do
  local at = i * 5 - 3
  local v = redis.call('GET', k)
  if ARGV[at] == '0' and v then return v end
  if ARGV[at] == '1' and not v then return 0 end
  if ARGV[at] == '1' and v ~= ARGV[at + 1] then return v end
end
local answers, kept = {}, false
for i, k in ipairs(KEYS) do
  local does, token, x = ARGV[i * 5 - 1], ARGV[i * 5], ARGV[i * 5 + 1]
  if does == 'delete' then redis.call('DEL', k) end
  if does == 'hold' then redis.call('SET', k, token, 'PXAT', x) end
  if does == 'swap' or does == 'tell' or does == 'raise' then
    redis.call('SET', k, token, 'KEEPTTL')
    answers[i] = raise(k, tonumber(x), does, tonumber(ARGV[#ARGV]))
    if answers[i] == 3 then redis.call('PEXPIREAT', k, x) end
  end
  answers[i] = answers[i] or 0
  kept = kept or answers[i] > 3
end
return kept and answers or 1`)

package scripts

// Transact: deadline, and for each key: whether it must hold something (1) or be absent (0)
// and the token that it must hold; what becomes of it (keep, delete, hold, or swap, which
// keeps a later expiry), its new token and its expiry. If any key is not as expected,
// nothing is done.
var Transact = newScript(aside + transact + swap + endTransact).or(newScript(aside + transact + swapOld + endTransact))

const transact = notAfter + `
for i, k in ipairs(KEYS) do
  local at = i * 5 - 3
  local v = redis.call('GET', k)
  if ARGV[at] == '0' and v then return v end
  if ARGV[at] == '1' and not v then return 0 end
  if ARGV[at] == '1' and v ~= ARGV[at + 1] then return v end
end
for i, k in ipairs(KEYS) do
  local at = i * 5 - 3
  if ARGV[at + 2] == 'delete' then redis.call('DEL', k) end
  if ARGV[at + 2] == 'hold' then redis.call('SET', k, ARGV[at + 3], 'PXAT', aside(k, ARGV[at + 4])) end
  if ARGV[at + 2] == 'swap' then
    redis.call('SET', k, ARGV[at + 3], 'KEEPTTL')
`

// swap finds the expiry of a key that keeps it. swapOld does so on masters before 7.0, which
// do not answer it: it is between least and e.
const (
	swap = `
    local e = redis.call('PEXPIRETIME', k)
    local least = e
`
	swapOld = `
    local least, left, e = redis.call('TIME'), redis.call('PTTL', k), redis.call('TIME')
    least = least[1] * 1000 + math.floor(least[2] / 1000) + left
    e = e[1] * 1000 + math.floor(e[2] / 1000) + left
`
)

// endTransact gives that the remainder of what is prolonged, as keepExpiry does.
var endTransact = `
    if e < tonumber(ARGV[at + 4]) then
      redis.call('PEXPIREAT', k, ARGV[at + 4])
    elseif e > least or e % ` + residues + ` > 0 then
      redis.call('PEXPIREAT', k, e + -e % ` + residues + `)
    end
  end
end
return 1`

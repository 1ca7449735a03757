package scripts

// raises begins a function that changes the fields f of a database's mark. The function
// returns the databases that the mark lists; none if there is no mark of this version.
const raises = `
local function raise(db)
  redis.call('SELECT', db)
  local f = {}
  for field in string.gmatch(redis.call('GET', KEYS[1]) or '', '%S+') do f[#f + 1] = field end
  if f[1] ~= '3' or #f ~= 23 then return '' end`

// The scripts for marks.
var (
	// Mark writes the mark ARGV[2] if the present mark is ARGV[1], or if there is none
	// and ARGV[1] is empty. ARGV[3] is the deadline in the master's own milliseconds, 0 is
	// none.
	Mark = newScript(`
local t = redis.call('TIME')
if ARGV[3] ~= '0' and t[1] * 1000 + math.floor(t[2] / 1000) > tonumber(ARGV[3]) then return 0 end
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`)

	// Generation raises the state of the list of masters in the marks of all databases in
	// use, which database 0's mark lists. It leaves marks that have a later state, one that
	// does not lead to this list (mark.Generation.Lags), or a later one than was seen.
	// Arguments: the present database, number, phase, list, previous list, the deadline in
	// the master's own milliseconds, after which it changes nothing (0 is no deadline), and
	// the number and phase that were seen. See mark.Mark.String for the fields.
	Generation = newScript(`
local t = redis.call('TIME')
if ARGV[6] ~= '0' and t[1] * 1000 + math.floor(t[2] / 1000) > tonumber(ARGV[6]) then return -1 end
` + raises + `
  local n, p = tonumber(f[7]), tonumber(f[8])
  local earlier = n < tonumber(ARGV[2]) or n == tonumber(ARGV[2]) and p < tonumber(ARGV[3])
  local seen = n < tonumber(ARGV[7]) or n == tonumber(ARGV[7]) and p <= tonumber(ARGV[8])
  if earlier and seen and (f[9] == ARGV[4] or f[9] == ARGV[5] or p == 1 and f[10] == ARGV[5]) then
    f[7], f[8], f[9], f[10] = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
    redis.call('SET', KEYS[1], table.concat(f, ' '))
  end
  return f[16]
end
for db in string.gmatch(raise('0'), '%d+') do raise(db) end
raise(ARGV[1])
return 1`)

	// Seats writes later seats to the marks of all databases in use, which
	// database 0's mark lists. Argument: hash:epoch:server:beat, separated by commas.
	Seats = newScript(raises + `
  local order, seats = {}, {}
  local function add(list)
    for name, epoch, server, beat in string.gmatch(list, '([^:,]+):(%d+):([^:,]+):(%d+)') do
      local s = seats[name]
      epoch = tonumber(epoch)
      if not s then order[#order + 1] = name end
      if not s or s.epoch < epoch or s.epoch == epoch and s.server < server then
        seats[name] = {epoch = epoch, server = server, beat = beat}
      end
    end
  end
  add(f[17])
  add(ARGV[1])
  local out = {}
  for i, name in ipairs(order) do
    local s = seats[name]
    out[i] = name .. ':' .. s.epoch .. ':' .. s.server .. ':' .. s.beat
  end
  f[17] = table.concat(out, ',')
  redis.call('SET', KEYS[1], table.concat(f, ' '))
  return f[16]
end
for db in string.gmatch(raise('0'), '%d+') do raise(db) end
redis.call('SELECT', 0)
return 1`)

	// Peek reads database 0's mark over a connection to another database. Argument: that
	// database's number.
	Peek = newScript(`
redis.call('SELECT', 0)
local v = redis.call('GET', KEYS[1])
redis.call('SELECT', ARGV[1])
return v`)

	// List enters a database in database 0's mark and gives it its own mark, both or
	// none. Arguments: the database, the old and the new mark of database 0, the
	// database's mark.
	List = newScript(`
redis.call('SELECT', 0)
local ok = (redis.call('GET', KEYS[1]) or '') == ARGV[2]
if ok and ARGV[3] ~= ARGV[2] then redis.call('SET', KEYS[1], ARGV[3]) end
redis.call('SELECT', ARGV[1])
if not ok then return 0 end
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[4])
return 1`)
)

-- The steps of a lock by lua-redis. Lua has no threads: no contests.

local redis = require "redis"
local socket = require "socket"
local json = require "cjson"

local own = #arg - 3
local host, port, prefix = arg[own + 1], tonumber(arg[own + 2]), arg[own + 3]
local key = prefix .. "raw"
local RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
local EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"
redis.commands.set = redis.command("SET") -- its own takes no options

local function tell(step, result)
  if result == nil then result = json.null end
  print(json.encode({ [step] = result }))
  io.stdout:flush()
end

local function text(e)
  return (tostring(e):gsub("^[^:]*:%d+: ", ""))
end

local function step(name, call)
  local ok, result = pcall(call)
  if not ok then result = "FAILED " .. text(result) end
  tell(name, result)
  return result
end

local function refused(name, call)
  local ok, result = pcall(call)
  tell(name, ok and "FAILED: no error" or text(result))
end

local function poll(call)
  local last = socket.gettime() + 10
  while not call() do
    if socket.gettime() > last then error("still refused after 10 s") end
    socket.sleep(0.005)
  end
  return true
end

local function open(db)
  local c = redis.connect(host, port)
  if db then c:select(db) end
  return c
end

local c = open()
local function take(by, token, ms) return by:set(key, token, "PX", ms or 30000, "NX") == true end
local function release(by, token) return by:eval(RELEASE, 1, key, token) end
local function around(low, high)
  local ms = c:pttl(key)
  return ms > low and ms <= high
end

tell("version", redis._VERSION:match("%d[%d.]*"))
step("take", function() return take(c, "one") end)
step("refuse", function() return take(c, "two") end)
step("query", function() return c:get(key) end)
step("ttl", function() return around(25000, 30000) end)
step("extend", function() return c:eval(EXTEND, 1, key, "one", 60000) end)
step("extended", function() return around(55000, 60000) end)
step("extend wrong", function() return c:eval(EXTEND, 1, key, "two", 60000) end)
step("extend missing", function() return c:eval(EXTEND, 1, key .. "none", "one", 60000) end)
step("release wrong", function() return release(c, "two") end)
step("release", function() return release(c, "one") end)
step("release missing", function() return release(c, "one") end)
step("query missing", function() return c:get(key) end)
refused("unknown hash", function() return c:evalsha("0123456789012345678901234567890123456789", 1, key, "one") end)
local sha = step("load", function() return c:script("LOAD", RELEASE .. " ") end)
take(c, "one")
step("by hash", function() return c:evalsha(sha, 1, key, "one") end)
step("by hash, missing", function() return c:evalsha(sha, 1, key, "one") end)

take(c, "one")
local meddler = open()
local function watched(meddle)
  local replies = c:transaction({ watch = key, cas = true, retry = 0 }, function(t)
    t:get(key)
    meddle()
    t:multi()
    t:pexpire(key, 20000)
  end)
  return replies
end
step("transaction", function() return watched(function() end) end)
refused("transaction, changed", function()
  return watched(function() release(meddler, "one"); take(meddler, "two") end)
end)
step("still held", function() return c:get(key) end)
local other = open(1)
step("database, query", function() return other:get(key) end)
step("database, take", function() return take(other, "one") end)
step("database, release", function() return release(other, "one") end)
step("database, still held", function() return c:get(key) end)
release(c, "two")
step("pipeline", function()
  local replies = c:pipeline(function(p)
    p:set(key, "one", "PX", 30000, "NX")
    p:get(key)
    p:del(key)
  end)
  return replies
end)
take(c, "short", 200)
step("expire, before", function() return take(c, "two") end)
step("expire", function() return poll(function() return take(c, "two") end) end)
step("release at the end", function() return release(c, "two") end)

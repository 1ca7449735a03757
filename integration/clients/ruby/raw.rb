# The steps of a lock by redis-rb, with threads.

require "json"
require "redis"

HOST, PORT, PREFIX = ARGV.last(3)
KEY = "#{PREFIX}raw"
RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"
$stdout.sync = true

def tell(step, result) = puts(JSON.generate({step => result}))

def step(name)
  result = yield
  tell(name, result)
  result
rescue => e
  tell(name, "FAILED #{e.class}: #{e.message}")
end

# refused tells the error that the block should end with.
def refused(name)
  tell(name, "FAILED: no error, but #{yield}")
rescue => e
  tell(name, "#{e.class}: #{e.message}")
end

# poll calls until it is true. The masters keep a lock a little longer.
def poll(seconds = 10)
  last = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  until yield
    raise "still refused after #{seconds} s" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > last
    sleep 0.005
  end
  true
end

def open_client(db = 0) = Redis.new(host: HOST, port: PORT.to_i, db: db, password: ENV["BENCH_PASSWORD"])

def take(client, token, ms = 30_000) = client.set(KEY, token, nx: true, px: ms)

def release(client, token) = client.eval(RELEASE, keys: [KEY], argv: [token])

def contest
  inside = most = done = 0
  guard = Mutex.new
  threads = Array.new(6) do |worker|
    Thread.new do
      client = open_client
      token = yield(worker)
      5.times do
        poll(20) { take(client, token) }
        guard.synchronize { inside += 1; most = [most, inside].max }
        sleep 0.001
        guard.synchronize { inside -= 1; done += 1 }
        raise "release was not 1" unless release(client, token) == 1
      end
    end
  end
  threads.each(&:join)
  {"rounds" => done, "at once" => most}
end

tell("version", Redis::VERSION)
c = open_client
step("take") { take(c, "one") }
step("refuse") { take(c, "two") }
step("query") { c.get(KEY) }
step("ttl") { c.pttl(KEY).between?(25_000, 30_000) }
step("extend") { c.eval(EXTEND, keys: [KEY], argv: ["one", 60_000]) }
step("extended") { c.pttl(KEY).between?(55_000, 60_000) }
step("extend wrong") { c.eval(EXTEND, keys: [KEY], argv: ["two", 60_000]) }
step("extend missing") { c.eval(EXTEND, keys: ["#{KEY}none"], argv: ["one", 60_000]) }
step("release wrong") { release(c, "two") }
step("release") { release(c, "one") }
step("release missing") { release(c, "one") }
step("query missing") { c.get(KEY) }
refused("unknown hash") { c.evalsha("0123456789012345678901234567890123456789", keys: [KEY], argv: ["one"]) }
sha = step("load") { c.script(:load, "#{RELEASE} ") }
take(c, "one")
step("by hash") { c.evalsha(sha, keys: [KEY], argv: ["one"]) }
step("by hash, missing") { c.evalsha(sha, keys: [KEY], argv: ["one"]) }

def watched(client)
  client.watch(KEY) do
    client.get(KEY)
    yield
    client.multi { |m| m.pexpire(KEY, 20_000) }
  end
end
take(c, "one")
meddler = open_client
step("transaction") { watched(c) {} }
step("transaction, changed") { watched(c) { release(meddler, "one"); take(meddler, "two") } }
step("still held") { c.get(KEY) }
other = open_client(1)
step("database, query") { other.get(KEY) }
step("database, take") { take(other, "one") }
step("database, release") { release(other, "one") }
step("database, still held") { c.get(KEY) }
release(c, "two")
step("pipeline") { c.pipelined { |p| p.set(KEY, "one", nx: true, px: 30_000); p.get(KEY); p.del(KEY) } }

take(c, "short", 200)
step("expire, before") { take(c, "two") }
step("expire") { poll { take(c, "two") } }
step("wait") do
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  later = Thread.new { sleep 0.3; release(meddler, "two") }
  poll { take(c, "three") }
  later.join
  Process.clock_gettime(Process::CLOCK_MONOTONIC) - start >= 0.29
end
release(c, "three")
step("many, unique tokens") { contest { |worker| "worker #{worker}" } }
step("many, equal tokens") { contest { "the same" } }

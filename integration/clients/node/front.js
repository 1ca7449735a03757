'use strict'
// ioredis and node-redis behind one address for several redlockd (integration/front): they take
// and release a lock that others want, too, and extend one that nobody else may get, until their
// input ends.

const { randomUUID } = require('crypto')
const [library, host, port, prefix] = process.argv.slice(2)

const RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
const EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"

async function ioredis () {
  const Redis = require('ioredis')
  const c = new Redis({ host, port, connectTimeout: 1000, commandTimeout: 1000, socketTimeout: 2000 })
  c.on('error', () => {}) // a command that fails tells it as well
  return {
    setNX: (key, token, ms) => c.set(key, token, 'PX', ms, 'NX'),
    script: (text, key, ...args) => c.eval(text, 1, key, ...args)
  }
}

async function nodeRedis () {
  const { createClient } = require('redis6')
  const c = createClient({
    pingInterval: 500,
    socket: { host, port, connectTimeout: 1000, socketTimeout: 2000, reconnectStrategy: n => Math.min(50 * 2 ** n, 500) }
  })
  c.on('error', () => {})
  await c.connect()
  return {
    setNX: (key, token, ms) => c.set(key, token, { expiration: { type: 'PX', value: ms }, condition: 'NX' }),
    script: (text, key, ...args) => c.eval(text, { keys: [key], arguments: args.map(String) })
  }
}

const now = () => performance.timeOrigin + performance.now()

// Tells what was called, when it was sent and answered, and the answer: 1, 0 or an error.
async function call (kind, does) {
  const sent = now()
  let answer
  try {
    answer = await does() ? '1' : '0'
  } catch (e) {
    answer = `${e.name}: ${e.message.replace(/\s+/g, ' ')}`
  }
  console.log(kind, sent.toFixed(3), now().toFixed(3), answer)
  return answer === '1'
}

async function main () {
  let over = false
  process.stdin.on('end', () => { over = true }).resume()
  const c = await { ioredis, nodeRedis }[library]()
  const held = prefix + 'held'
  const wanted = prefix + 'wanted'
  const mine = randomUUID()
  await call('hold', () => c.setNX(held, mine, 20000))
  while (!over) {
    const token = randomUUID()
    if (await call('take', () => c.setNX(wanted, token, 2000))) {
      await call('release', () => c.script(RELEASE, wanted, token))
    }
    await call('extend', () => c.script(EXTEND, held, mine, 20000))
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  process.exit(0)
}

main()

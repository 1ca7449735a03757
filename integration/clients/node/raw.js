'use strict'
// The steps of a lock by a general client: KIND PACKAGE [RESP].

const { own, prefix, version, step, refused, poll, waitFor, contest, run } = require('./steps')
const clients = require('./clients')

const RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
const EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"

run(async () => {
  const [kind, package_, resp] = own
  version(package_)
  const options = resp === 'autopipeline' ? { enableAutoPipelining: true } : resp ? (kind === 'ioredis' ? { protocol: Number(resp) } : { RESP: Number(resp) }) : undefined
  const open = () => clients[kind](package_, 0, options)
  const c = open()
  await step('connect', async () => { await c.ready(); return true })
  const meddler = open()
  await meddler.ready()
  const key = prefix + 'raw'
  const release = c.script('benchRelease', RELEASE)
  const extend = c.script('benchExtend', EXTEND)
  const around = async (low, high) => { const ms = await c.pttl(key); return ms > low && ms <= high }

  await step('take', () => c.setNX(key, 'one', 30000))
  await step('refuse', () => c.setNX(key, 'two', 30000))
  await step('query', () => c.get(key))
  await step('ttl', () => around(25000, 30000))
  await step('extend', () => extend(key, 'one', 60000))
  await step('extended', () => around(55000, 60000))
  await step('extend wrong', () => extend(key, 'two', 60000))
  await step('extend missing', () => extend(key + 'none', 'one', 60000))
  await step('release wrong', () => release(key, 'two'))
  await step('release', () => release(key, 'one'))
  await step('release missing', () => release(key, 'one'))
  await step('query missing', () => c.get(key))
  await refused('unknown hash', () => c.evalsha('0123456789012345678901234567890123456789', key, 'one'))
  const hash = await step('load', () => c.load(RELEASE + ' '))
  await c.setNX(key, 'one', 30000)
  await step('by hash', () => c.evalsha(hash, key, 'one'))
  await step('by hash, missing', () => c.evalsha(hash, key, 'one'))

  await c.setNX(key, 'one', 30000)
  await step('transaction', () => c.watched(key, () => {}))
  await step('transaction, changed', () => c.watched(key, async () => {
    await meddler.script('benchRelease', RELEASE)(key, 'one')
    await meddler.setNX(key, 'two', 30000)
  }))
  await step('still held', () => c.get(key))
  const other = await c.database(1)
  await step('database, query', () => other.get(key))
  await step('database, take', () => other.setNX(key, 'one', 30000))
  await step('database, release', () => other.script('benchRelease', RELEASE)(key, 'one'))
  await step('database, still held', () => c.get(key))
  await release(key, 'two')
  await step('pipeline', () => c.pipeline(key, 'one'))

  await c.setNX(key, 'short', 200)
  await step('expire, before', () => c.setNX(key, 'two', 30000))
  await step('expire', () => poll(() => c.setNX(key, 'two', 30000)))
  await step('wait', () => waitFor(() => release(key, 'two'), () => poll(() => c.setNX(key, 'three', 30000))))
  await release(key, 'three')
  const enter = token => async worker => {
    const mine = token(worker)
    await poll(() => c.setNX(key, mine, 30000), 20000)
    return () => release(key, mine)
  }
  await step('many, unique tokens', () => contest(enter(worker => 'worker ' + worker)))
  await step('many, equal tokens', () => contest(enter(() => 'the same')))
  await step('close', async () => { await Promise.all([c.close(), other.close(), meddler.close()]); return true })
})

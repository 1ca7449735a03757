'use strict'
// node-redis-warlock, with callbacks, over node-redis 3.

const { promisify } = require('util')
const { prefix, version, step, poll, waitFor, contest, sleep, run } = require('./steps')
const clients = require('./clients')

run(async () => {
  version('node-redis-warlock', 'redis3')
  const c = clients.nodeRedis3('redis3')
  await c.ready()
  const warlock = require('node-redis-warlock')(c.raw)
  const key = prefix + 'warlock'
  // lock calls back with (error, unlock, id); unlock is false when it is held.
  const lock = ms => new Promise((resolve, reject) => warlock.lock(key, ms, (e, unlock, id) => e ? reject(e) : resolve({ unlock, id })))
  const take = async ms => { const l = await lock(ms); return typeof l.unlock === 'function' ? l : null }
  const unlock = (id) => promisify(warlock.unlock)(key, id)
  const touch = (id, ms) => promisify(warlock.touch)(key, id, ms)
  let mine
  await step('take', async () => { mine = await take(30000); return mine !== null })
  await step('refuse', () => take(30000))
  await step('extend', () => touch(mine.id, 60000))
  await step('extended', async () => { const ms = await c.pttl(warlock.makeKey(key)); return ms > 55000 && ms <= 60000 })
  await step('extend wrong', () => touch('another token', 60000))
  await step('release wrong', () => unlock('another token'))
  await step('release', () => unlock(mine.id))
  await step('release missing', () => unlock(mine.id))
  await step('extend missing', () => touch(mine.id, 60000))
  await step('take briefly', async () => (await take(200)) !== null)
  await step('expire, before', () => take(30000))
  await step('expire', () => poll(async () => { mine = await take(30000); return mine !== null }))
  let next
  await step('wait', () => waitFor(() => unlock(mine.id), () => poll(async () => { next = await take(30000); return next !== null })))
  await step('release after waiting', () => unlock(next.id))
  const wait = promisify((ms, cb) => warlock.optimistic(key, ms, 2000, 10, cb))
  await step('many, unique tokens', () => contest(async () => { const un = await wait(30000); return () => promisify(un)().then(() => sleep(1)) }))
})

'use strict'
// redis-semaphore's Mutex and RedlockMutex: CLASS CLIENT.

const { own, prefix, version, step, refused, poll, waitFor, contest, run } = require('./steps')
const clients = require('./clients')

run(async () => {
  const [className, clientPackage] = own
  version('redis-semaphore', clientPackage)
  const c = clients.ioredis(clientPackage)
  await c.ready()
  const Mutex = require('redis-semaphore')[className]
  const over = className === 'RedlockMutex' ? [c.raw] : c.raw
  const make = (options = {}, name = 'semaphore') => new Mutex(over, prefix + name, {
    lockTimeout: 30000, acquireTimeout: 20000, retryInterval: 5, refreshInterval: 0, ...options
  })
  const mine = make({ identifier: 'mine', acquireAttemptsLimit: 1 })
  const other = make({ identifier: 'other', acquireAttemptsLimit: 1 })
  const forged = make({ identifier: 'forged', acquiredExternally: true, acquireAttemptsLimit: 1 })
  await step('take', () => mine.tryAcquire())
  await step('refuse', () => other.tryAcquire())
  await step('query', () => c.get('mutex:' + prefix + 'semaphore'))
  await step('extend', () => make({ identifier: 'mine', acquiredExternally: true, acquireAttemptsLimit: 1, lockTimeout: 60000 }).tryAcquire())
  await step('extended', async () => { const ms = await c.pttl('mutex:' + prefix + 'semaphore'); return ms > 55000 && ms <= 60000 })
  await step('extend wrong', () => forged.tryAcquire())
  await step('release wrong', () => other.release())
  await step('still held', () => c.get('mutex:' + prefix + 'semaphore'))
  await step('release', () => mine.release())
  await step('release missing', () => mine.release())
  await step('extend missing', () => make({ identifier: 'none', acquiredExternally: true, acquireAttemptsLimit: 1 }, 'none').tryAcquire())
  await step('take briefly', () => make({ identifier: 'short', acquireAttemptsLimit: 1, lockTimeout: 200 }).tryAcquire())
  await step('expire, before', () => other.tryAcquire())
  await step('expire', () => poll(() => other.tryAcquire()))
  const third = make({ identifier: 'third' })
  await step('wait', () => waitFor(() => other.release(), () => third.acquire()))
  await step('release after waiting', () => third.release())
  await refused('wait in vain', async () => {
    const holder = make(); await holder.acquire()
    try { await make({ acquireTimeout: 100 }).acquire() } finally { await holder.release() }
  })
  const renewed = make({ lockTimeout: 1500, refreshInterval: 300 })
  await step('refreshed by itself', async () => {
    await renewed.acquire()
    await new Promise(resolve => setTimeout(resolve, 2500))
    return [renewed.isAcquired, await other.tryAcquire()]
  })
  await step('release refreshed', () => renewed.release())
  const enter = options => async () => { const m = make(options); await m.acquire(); return () => m.release() }
  await step('many, unique tokens', () => contest(enter({})))
  // Equal identifiers are one holder to this library: no contest of those.
})

'use strict'
// redlock 4 and 5 and @sesamecare-oss/redlock: PACKAGE KIND CLIENT, and with
// several keys when a fourth word is given.

const { own, prefix, version, step, poll, waitFor, contest, run } = require('./steps')
const clients = require('./clients')

run(async () => {
  const [package_, kind, clientPackage, several] = own
  version(package_, clientPackage)
  const c = clients[kind](clientPackage)
  await c.ready()
  const loaded = require(package_)
  const Redlock = loaded.default || loaded.Redlock || loaded
  const once = new Redlock([c.raw], { retryCount: 0, automaticExtensionThreshold: 1000 })
  const often = new Redlock([c.raw], { retryCount: 2000, retryDelay: 10, retryJitter: 5, automaticExtensionThreshold: 1000 })
  for (const r of [once, often]) r.on('error', () => {}) // what matters rejects as well
  const key = prefix + 'redlock'
  const resource = several ? [key + '1', key + '2'] : package_ === 'redlock4' ? key : [key]
  const first = [].concat(resource)[0]
  const release = lock => (lock.release || lock.unlock).call(lock)
  // An error that tells counts attempts and milliseconds: its name is enough.
  const named = (name, call) => step(name, () => call().then(() => 'FAILED: no error', e => e.name))
  const forged = lock => { const f = Object.assign(Object.create(Object.getPrototypeOf(lock)), lock); f.value = 'another token'; return f }

  let lock
  await step('take', async () => { lock = await once.acquire(resource, 30000); return typeof lock.value })
  if (!lock) return
  await named('refuse', () => once.acquire(resource, 30000))
  if (several) await named('refuse one of them', () => once.acquire([resource[1]], 30000))
  await step('query', async () => (await c.get(first)) === lock.value)
  const extended = await step('extend', async () => { lock = (await lock.extend(60000)) || lock; return 'done' })
  if (extended) await step('extended', async () => { const ms = await c.pttl(first); return ms > 55000 && ms <= 60000 })
  await named('extend wrong', () => once.extend(forged(lock), 10000))
  await named('release wrong', () => once.release(forged(lock)))
  await step('still held', async () => (await c.get(first)) === lock.value)
  const gone = forged(lock)
  gone.value = lock.value
  await step('release', async () => { await release(lock); return 'done' })
  await step('free', () => c.get(first))
  await named('release missing', () => once.release(gone))
  await named('extend missing', () => once.extend(gone, 10000))

  await step('take briefly', async () => typeof (await once.acquire(resource, 300)).value)
  await named('expire, before', () => once.acquire(resource, 30000))
  let next
  await step('expire', () => poll(() => once.acquire(resource, 30000).then(l => { next = l; return true }, () => false)))
  let after
  await step('wait', () => waitFor(() => release(next), async () => { after = await often.acquire(resource, 30000) }))
  if (after) await release(after)
  await step('many, unique tokens', () => contest(async () => {
    const l = await often.acquire(resource, 30000)
    return () => release(l)
  }, 6, 4))
  if (often.using) {
    await step('using', () => often.using([].concat(resource), 3000, async signal => {
      await new Promise(resolve => setTimeout(resolve, 3500))
      return [signal.aborted, (await c.get(first)) !== null]
    }))
    await step('free after using', () => c.get(first))
  }
})

'use strict'
// What redlockd refuses: simple-redis-mutex, redis-semaphore's Semaphore, BullMQ.

const { host, port, own, prefix, version, step, run } = require('./steps')
const clients = require('./clients')

const programs = {
  async mutex () {
    version('simple-redis-mutex', 'redis6')
    const client = require('redis6').createClient({ socket: { host, port } })
    await client.connect()
    const { tryLock } = require('simple-redis-mutex')
    await step('take', async () => {
      const [mine, release] = await tryLock(client, prefix + 'mutex', { timeout: 2000 })
      await release()
      return mine
    })
  },
  async semaphore () {
    version('redis-semaphore', 'ioredis')
    const c = clients.ioredis('ioredis')
    await c.ready()
    const { Semaphore } = require('redis-semaphore')
    const one = new Semaphore(c.raw, prefix + 'semaphore', 2, { acquireAttemptsLimit: 1 })
    await step('take', () => one.tryAcquire())
    await step('release', () => one.release())
  },
  async bullmq () {
    version('bullmq')
    const { Queue } = require('bullmq')
    const queue = new Queue('queue', { prefix: prefix + 'bull', connection: { host, port } })
    queue.on('error', () => {}) // add tells it too
    await step('add', async () => (await queue.add('job', {})).id)
    await step('waiting', () => queue.getWaitingCount())
  }
}

run(programs[own[0]])

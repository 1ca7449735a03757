'use strict'
// The general clients, each with what lock code uses of it.

const { promisify } = require('util')
const { host, port, password } = require('./steps')

function ioredis (package_, db = 0, options = {}) {
  const Redis = require(package_)
  const c = new Redis({ host, port, password, db, maxRetriesPerRequest: 3, ...options })
  return {
    raw: c,
    ready: () => new Promise((resolve, reject) => { c.once('ready', resolve); c.once('error', reject) }),
    setNX: (key, token, ms) => c.set(key, token, 'PX', ms, 'NX'),
    get: key => c.get(key),
    pttl: key => c.pttl(key),
    script: (name, lua) => {
      c.defineCommand(name, { numberOfKeys: 1, lua })
      return (key, ...args) => c[name](key, ...args)
    },
    evalsha: (sha, key, ...args) => c.evalsha(sha, 1, key, ...args),
    load: lua => c.script('LOAD', lua),
    watched: async (key, meddle) => {
      await c.watch(key)
      await c.get(key)
      await meddle()
      const done = await c.multi().pexpire(key, 20000).exec()
      return done && done.map(([error, reply]) => error ? error.message : reply)
    },
    pipeline: async (key, token) => {
      const done = await c.pipeline().set(key, token, 'PX', 30000, 'NX').get(key).del(key).exec()
      return done.map(([error, reply]) => error ? error.message : reply)
    },
    database: async n => { const o = ioredis(package_, n, options); await o.ready(); return o },
    close: () => c.quit()
  }
}

// node-redis 4 to 6.
function nodeRedis (package_, db = 0, options = {}) {
  const { createClient } = require(package_)
  const c = createClient({ socket: { host, port }, password, database: db, ...options })
  c.on('error', () => {}) // a command that fails tells it as well
  return {
    raw: c,
    ready: () => c.connect(),
    setNX: (key, token, ms) => c.set(key, token, { PX: ms, NX: true }),
    get: key => c.get(key),
    pttl: key => c.pTTL(key),
    script: (name, lua) => (key, ...args) => c.eval(lua, { keys: [key], arguments: args.map(String) }),
    evalsha: (sha, key, ...args) => c.evalSha(sha, { keys: [key], arguments: args.map(String) }),
    load: lua => c.scriptLoad(lua),
    watched: async (key, meddle) => {
      await c.watch(key)
      await c.get(key)
      await meddle()
      try {
        return (await c.multi().pExpire(key, 20000).exec()).map(Number)
      } catch (e) {
        if (e.constructor.name === 'WatchError') return null
        throw e
      }
    },
    pipeline: (key, token) => Promise.all([c.set(key, token, { PX: 30000, NX: true }), c.get(key), c.del(key)]),
    database: async n => { const o = nodeRedis(package_, n, options); await o.ready(); return o },
    close: () => (c.close || c.quit).call(c)
  }
}

// node-redis 3, with callbacks.
function nodeRedis3 (package_, db = 0) {
  const c = require(package_).createClient({ host, port, password, db: db || undefined })
  const ask = (name, ...args) => promisify(c[name]).call(c, ...args)
  return {
    raw: c,
    ready: () => new Promise((resolve, reject) => { c.once('ready', resolve); c.once('error', reject) }),
    setNX: (key, token, ms) => ask('set', key, token, 'PX', ms, 'NX'),
    get: key => ask('get', key),
    pttl: key => ask('pttl', key),
    script: (name, lua) => (key, ...args) => ask('eval', lua, 1, key, ...args),
    evalsha: (sha, key, ...args) => ask('evalsha', sha, 1, key, ...args),
    load: lua => ask('script', 'load', lua),
    watched: async (key, meddle) => {
      await ask('watch', key)
      await ask('get', key)
      await meddle()
      const multi = c.multi().pexpire(key, 20000)
      return promisify(multi.exec).call(multi)
    },
    pipeline: (key, token) => Promise.all([ask('set', key, token, 'PX', 30000, 'NX'), ask('get', key), ask('del', key)]),
    database: async n => { const o = nodeRedis3(package_, n); await o.ready(); return o },
    close: () => c.quit()
  }
}

module.exports = { ioredis, nodeRedis, nodeRedis3 }

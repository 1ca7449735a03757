'use strict';
// For redlockd, which has no SADD: a test that puts a set in a lock's way gets it
// on the five masters themselves.
const Redis = require('ioredis');

function sadd(db) {
  return function (key, member, done) {
    const masters = [7001, 7002, 7003, 7004, 7005].map((port) => new Redis({ port, db }));
    const all = Promise.all(masters.map((m) => m.sadd.call(m, key, member)));
    return all.then(
      () => { masters.forEach((m) => m.disconnect()); if (done) done(null, 1); return 1; },
      (problem) => { if (done) done(problem); else throw problem; });
  };
}

// Clients of the suite are those at the port that redlockd has.
const plain = Redis.prototype.sadd;
Redis.prototype.sadd = function (...args) {
  return this.options.port === 6379 ? sadd(this.options.db || 0)(...args) : plain.apply(this, args);
};
require('redis').RedisClient.prototype.sadd = sadd(0);

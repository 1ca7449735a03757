"""python-redis-lock: waits on a list that the release fills."""

import redis
import redis_lock

from steps import ELSEWHERE, HOST, PORT, PREFIX, contest, poll, refused, step, version, wait_for, wakes

version("python-redis-lock", "redis")
r = redis.Redis(HOST, PORT)


def lock(**how):
    return redis_lock.Lock(r, PREFIX + "prl", **{"expire": 30, **how})


mine, other = lock(id="mine"), lock(id="other")
step("take", lambda: mine.acquire(blocking=False))
step("refuse", lambda: other.acquire(blocking=False))
step("query", lambda: [mine.locked(), mine.get_owner_id()])
step("extend", lambda: mine.extend(60))
step("extended", lambda: 55000 < r.pttl("lock:" + PREFIX + "prl") <= 60000)
refused("extend wrong", lambda: other.extend(60))
refused("release wrong", other.release)
step("release", mine.release)
refused("release missing", mine.release)
refused("extend missing", lambda: mine.extend(60))
step("query missing", mine.locked)
step("take briefly", lambda: lock(expire=1).acquire(blocking=False))
step("expire, before", lambda: other.acquire(blocking=False))
step("expire", lambda: poll(lambda: other.acquire(blocking=False)))
third = lock()
step("wait", lambda: wait_for(other.release, lambda: third.acquire(timeout=10)))
step("release after waiting", third.release)
there = redis_lock.Lock(redis.Redis(*ELSEWHERE), PREFIX + "prl", expire=30)
step("woken elsewhere", lambda: wakes(mine.acquire, mine.release, lambda: there.acquire(timeout=10), there.release))


def take(_):
    l = lock()
    assert l.acquire(timeout=20)
    return l.release


step("many, unique tokens", lambda: contest(take))
forever = redis_lock.Lock(r, PREFIX + "forever")
step("no expiry, take", lambda: forever.acquire(blocking=False))
step("no expiry, release", forever.release)

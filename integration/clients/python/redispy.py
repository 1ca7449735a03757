"""redis-py's Lock, with threads, and its WATCH, scripts and pipelines."""

import sys

import redis

from steps import HOST, PASSWORD, PORT, PREFIX, contest, poll, refused, step, version, wait_for

version("redis")
r = redis.Redis(HOST, PORT, password=PASSWORD)
key = PREFIX + "redispy"


def lock(**how):
    return r.lock(key, **{"timeout": 30, "thread_local": False, **how})


mine, other = lock(), lock()
step("take", lambda: mine.acquire(blocking=False))
step("refuse", lambda: other.acquire(blocking=False))
step("query", lambda: [mine.locked(), mine.owned(), other.owned()])
step("extend", lambda: mine.extend(10))
step("extended", lambda: 35000 < r.pttl(key) <= 40000)
step("extend anew", lambda: mine.extend(20, replace_ttl=True))
step("extended anew", lambda: 15000 < r.pttl(key) <= 20000)
step("reacquire", mine.reacquire)
step("reacquired", lambda: 25000 < r.pttl(key) <= 30000)
refused("extend not taken", lambda: other.extend(10))
other.local.token = b"another token"
refused("extend wrong", lambda: other.extend(10))
refused("extend wrong, anew", lambda: other.extend(10, replace_ttl=True))
refused("reacquire wrong", other.reacquire)
refused("release wrong", other.release)
step("release", mine.release)
refused("release not taken", mine.release)
mine.local.token = b"a token"
refused("extend missing", lambda: mine.extend(10))
mine.local.token = b"a token"
refused("release missing", mine.release)
step("query missing", mine.locked)

short = lock(timeout=0.2)
step("take briefly", lambda: short.acquire(blocking=False))
step("expire, before", lambda: other.acquire(blocking=False))
step("expire", lambda: poll(lambda: other.acquire(blocking=False)))
third = lock(sleep=0.01)
step("wait", lambda: wait_for(other.release, third.acquire))
step("wait in vain", lambda: lock(sleep=0.01).acquire(blocking_timeout=0.2))
step("release after waiting", third.release)


def take(_):
    l = lock(sleep=0.005)
    assert l.acquire(blocking_timeout=20)
    return l.release


def take_same(_):
    l = lock(sleep=0.005)
    assert l.acquire(blocking_timeout=20, token="the same")
    return l.release


step("many, unique tokens", lambda: contest(take))
step("many, equal tokens", lambda: contest(take_same))


def with_block():
    with lock():
        return r.lock(key, timeout=1).acquire(blocking=False)


step("with", with_block)

if "password" not in sys.argv:
    forever = r.lock(key + "forever", thread_local=False)
    step("no timeout, take", lambda: forever.acquire(blocking=False))
    step("no timeout, refuse", lambda: r.lock(key + "forever").acquire(blocking=False))
    step("no timeout, release", forever.release)

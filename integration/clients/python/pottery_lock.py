"""pottery's Redlock over one server."""

import redis
from pottery import Redlock

from steps import HOST, PORT, PREFIX, contest, poll, step, tell, version, wait_for

version("pottery", "redis")
r = redis.Redis(HOST, PORT)


def lock(**how):
    return Redlock(key=PREFIX + "pottery", masters={r}, auto_release_time=how.pop("ttl", 30), **how)


def refused(name, call):
    """Tells the type: the text names addresses."""
    try:
        tell(name, "FAILED: no error, but %r" % (call(),))
    except Exception as e:
        tell(name, type(e).__name__)


mine, other = lock(), lock()
step("take", lambda: mine.acquire(blocking=False))
step("refuse", lambda: other.acquire(blocking=False))
step("query", lambda: 25 < mine.locked() <= 30)
step("query wrong", other.locked)
step("extend", mine.extend)
refused("extend wrong", other.extend)
refused("release wrong", other.release)
step("release", mine.release)
refused("release missing", mine.release)
refused("extend missing", mine.extend)
step("query missing", mine.locked)
step("take briefly", lambda: lock(ttl=0.2).acquire(blocking=False))
step("expire, before", lambda: other.acquire(blocking=False))
step("expire", lambda: poll(lambda: other.acquire(blocking=False)))
third = lock()
step("wait", lambda: wait_for(other.release, third.acquire))
step("release after waiting", third.release)


def take(_):
    l = lock()
    assert l.acquire(timeout=30)
    return l.release


step("many, unique tokens", lambda: contest(take, workers=4, rounds=3))

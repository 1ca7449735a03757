"""Takes, refuses, extends and releases locks with redis-py's Lock.

Prints one line for each call and what came of it: the same calls must give
the same lines whatever server stands at the address.
"""

import sys

import redis
from redis.exceptions import LockError, LockNotOwnedError

client = redis.Redis(host=sys.argv[1], port=int(sys.argv[2]), socket_timeout=30)


def tell(what, call):
    try:
        answer = call()
    except (LockError, LockNotOwnedError) as e:
        answer = type(e).__name__
    print(what, answer)


def left(name):
    """The TTL in tens of seconds, rounded: the time of day must not matter."""
    return round(client.pttl(name) / 20000.0) * 20


mine = client.lock("py:lock", timeout=60)
other = client.lock("py:lock", timeout=60, blocking=False)

tell("acquire", mine.acquire)
tell("acquire by another", other.acquire)
tell("acquire again", lambda: mine.acquire(blocking=False))
mine.local.token = client.get("py:lock")
tell("locked", mine.locked)
tell("owned", mine.owned)
tell("owned by another", other.owned)
print("left", left("py:lock"))
tell("extend", lambda: mine.extend(60))
print("left", left("py:lock"))
tell("extend, replacing", lambda: mine.extend(80, replace_ttl=True))
print("left", left("py:lock"))
tell("reacquire", mine.reacquire)
print("left", left("py:lock"))

stranger = client.lock("py:lock", timeout=60)
stranger.local.token = b"a stranger's"
tell("extend by a stranger", lambda: stranger.extend(60))
tell("reacquire by a stranger", stranger.reacquire)
stranger.local.token = b"a stranger's"
tell("release by a stranger", stranger.release)
tell("locked", mine.locked)

token = mine.local.token
tell("release", mine.release)
mine.local.token = token
tell("release again", mine.release)
mine.local.token = token
tell("extend what is gone", lambda: mine.extend(10))
tell("locked", mine.locked)
tell("owned", mine.owned)
tell("acquire by another", other.acquire)
tell("release by another", other.release)
tell("release without having", client.lock("py:lock", timeout=60).release)

with client.lock("py:with", timeout=60) as lock:
    tell("inside", lock.owned)
    waiting = client.lock("py:with", timeout=60, blocking_timeout=0.3, sleep=0.05)
    tell("waiting in vain", waiting.acquire)
tell("after", client.lock("py:with", timeout=60).locked)

"""dramatiq's ConcurrentRateLimiter, its mutex: the key counts who is in, and WATCH guards it."""

import redis
from dramatiq.rate_limits import ConcurrentRateLimiter
from dramatiq.rate_limits.backends import RedisBackend

from steps import ELSEWHERE, HOST, PORT, PREFIX, poll, spread, step, version

version("dramatiq", "redis")


class Interrupted(redis.Redis):
    """Calls what `between` has as the GET of a transaction begins, and as it ends."""

    between = ()

    def pipeline(self, *args, **kwargs):
        pipe = super().pipeline(*args, **kwargs)
        get = pipe.get

        def interrupted(key):
            calls, self.between = self.between or (bool, bool), ()
            calls[0]()
            value = get(key)
            calls[1]()
            return value

        pipe.get = interrupted
        return pipe


class Slot:
    """One that wants to be in."""

    def __init__(self, address=(HOST, PORT), key="mutex", limit=1, ttl=60_000):
        self.client, self.key = Interrupted(*address), PREFIX + key
        self.limiter = ConcurrentRateLimiter(RedisBackend(client=self.client), self.key, limit=limit, ttl=ttl)

    def take(self, *between):
        self.client.between = between
        self.inside = self.limiter.acquire(raise_on_failure=False)
        return self.inside.__enter__()

    def release(self):
        return self.inside.__exit__(None, None, None)

    def count(self):
        return self.client.get(self.key)


mine, other = Slot(), Slot(ELSEWHERE)
step("take", mine.take)
step("refuse", other.take)
step("count", mine.count)
step("TTL", lambda: 55_000 < mine.client.pttl(mine.key) <= 60_000)
step("release", mine.release)
step("count, nobody in", mine.count)
step("take from 0", other.take)
step("refuse from 0", mine.take)
step("released, read, taken by another", lambda: mine.take(other.release, other.take))
step("released and taken by another", lambda: mine.take(lambda: (other.release(), other.take()), bool))
step("release by another", other.release)
step("taken by another", lambda: mine.take(bool, other.take))
step("release by the winner", other.release)
step("taken and released by another", lambda: mine.take(bool, lambda: (other.take(), other.release())))
step("release after all", mine.release)

pair = [Slot(key="pair", limit=2) for _ in range(3)]
step("two of three", lambda: [slot.take() for slot in pair])
step("count of two", pair[0].count)
step("one goes", pair[0].release)
step("the third", lambda: [pair[2].take(), pair[2].count()])
step("all go", lambda: [pair[1].release(), pair[2].release(), pair[2].count()])

brief, late = Slot(key="brief", ttl=300), Slot(key="brief")
step("take briefly", brief.take)
step("expire", lambda: poll(late.take))
step("release after expiry", lambda: [brief.release(), late.count()])
step("release what was released", late.release)
step("six", lambda: spread(lambda address: Slot(address, "six", ttl=5000)))

"""walrus: waits on a list that the release fills with one item."""

import walrus

from steps import ELSEWHERE, HOST, PORT, PREFIX, contest, poll, step, version, wait_for, wakes

version("walrus", "redis")
db = walrus.Database(HOST, PORT)


def lock(who=None, ttl=30_000):
    return db.lock(PREFIX + "walrus", ttl=ttl, lock_id=who)


mine, other = lock("mine"), lock("other")
step("take", lambda: mine.acquire(block=False))
step("refuse", lambda: other.acquire(block=False))
step("holder", lambda: db.get(mine.key))
step("TTL", lambda: 25000 < db.pttl(mine.key) <= 30000)
step("release wrong", other.release)
step("release", mine.release)
step("the list", lambda: [db.llen(mine.event), db.exists(mine.event)])
step("release missing", mine.release)
step("take again", lambda: mine.acquire(block=False))
step("wait", lambda: wait_for(mine.release, other.acquire))
there = walrus.Database(*ELSEWHERE).lock(PREFIX + "walrus", ttl=30_000, lock_id="there")
step("release after waiting", other.release)
step("woken elsewhere", lambda: wakes(mine.acquire, mine.release, there.acquire, there.release))
step("take for clear", lambda: other.acquire(block=False))
step("clear", other.clear)
step("cleared", lambda: [db.get(mine.key), db.llen(mine.event)])
step("take briefly", lambda: lock("brief", ttl=1000).acquire(block=False))
step("expire", lambda: poll(lambda: mine.acquire(block=False)))
step("release after expiry", mine.release)


def take(_):
    l = lock()
    l.acquire()
    return l.release


step("many, unique tokens", lambda: contest(take))
forever = lock("forever", ttl=None)
step("no TTL, take", lambda: forever.acquire(block=False))
step("no TTL, release", forever.release)
step("decorated", lambda: lock()(lambda: "ran")())

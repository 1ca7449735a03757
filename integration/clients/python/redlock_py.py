"""redlock-py over one server."""

from redlock import Lock, Redlock

from steps import HOST, PORT, PREFIX, contest, poll, step, version, wait_for

version("redlock-py", "redis")
key = PREFIX + "redlockpy"
once = Redlock([{"host": HOST, "port": PORT}], retry_count=1, retry_delay=0.001)
often = Redlock([{"host": HOST, "port": PORT}], retry_count=2000, retry_delay=0.01)
held = {}


def take(by=once, ttl=30000, name="lock"):
    held[name] = by.lock(key, ttl)
    return bool(held[name])


step("take", take)
step("refuse", lambda: take(name="no"))
step("release wrong", lambda: once.unlock(Lock(0, key, b"another token")))
step("still refused", lambda: take(name="no"))
step("release", lambda: once.unlock(held["lock"]))
step("release missing", lambda: once.unlock(held["lock"]))
step("take briefly", lambda: take(ttl=300))
step("expire, before", lambda: take(name="no"))
step("expire", lambda: poll(take))
step("wait", lambda: wait_for(lambda: once.unlock(held["lock"]), lambda: take(often, name="next")))
step("release after waiting", lambda: once.unlock(held["next"]))


def enter(_):
    lock = often.lock(key, 30000)
    assert lock
    return lambda: often.unlock(lock)


step("many, unique tokens", lambda: contest(enter))

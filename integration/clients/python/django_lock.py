"""django-redis: cache.lock and cache.add."""

import django
from django.conf import settings

from steps import HOST, PORT, PREFIX, contest, poll, refused, step, version, wait_for

settings.configure(CACHES={"default": {
    "BACKEND": "django_redis.cache.RedisCache",
    "LOCATION": "redis://%s:%d/1" % (HOST, PORT),
    "OPTIONS": {"CLIENT_CLASS": "django_redis.client.DefaultClient"},
}})
django.setup()
from django.core.cache import cache  # noqa: E402

version("django-redis", "redis")
key = PREFIX + "django"


def lock(**how):
    return cache.lock(key, **{"timeout": 30, "thread_local": False, **how})


mine, other = lock(), lock()
step("take", lambda: mine.acquire(blocking=False))
step("refuse", lambda: other.acquire(blocking=False))
step("query", lambda: [mine.locked(), mine.owned(), other.owned()])
step("extend", lambda: mine.extend(10))
other.local.token = b"another token"
refused("extend wrong", lambda: other.extend(10))
refused("release wrong", other.release)
step("release", mine.release)
mine.local.token = b"a token"
refused("release missing", mine.release)
mine.local.token = b"a token"
refused("extend missing", lambda: mine.extend(10))
step("take briefly", lambda: lock(timeout=0.2).acquire(blocking=False))
step("expire, before", lambda: other.acquire(blocking=False))
step("expire", lambda: poll(lambda: other.acquire(blocking=False)))
third = lock(sleep=0.01)
step("wait", lambda: wait_for(other.release, third.acquire))
step("release after waiting", third.release)


def take(_):
    l = lock(sleep=0.005)
    assert l.acquire(blocking_timeout=20)
    return l.release


step("many, unique tokens", lambda: contest(take))
step("add", lambda: cache.add(key, "value", timeout=30))
step("add again", lambda: cache.add(key, "value", timeout=30))
step("get", lambda: cache.get(key))
step("touch", lambda: cache.touch(key, 60))
step("ttl", lambda: 55 < cache.ttl(key) <= 60)
step("delete", lambda: cache.delete(key))
step("delete again", lambda: cache.delete(key))

"""celery-once's lock, without celery's workers."""

from celery_once.backends.redis import Redis
from celery_once.tasks import AlreadyQueued

from steps import HOST, PORT, PREFIX, poll, step, version

version("celery-once", "redis")
backend = Redis({"url": "redis://%s:%d/0" % (HOST, PORT)})
key = PREFIX + "once"


def take(seconds=30):
    try:
        backend.raise_or_lock(key, seconds)
        return True
    except AlreadyQueued as e:
        return 0 < e.countdown <= seconds and False


step("take", take)
step("refuse", take)
step("release", lambda: backend.clear_lock(key))
step("release missing", lambda: backend.clear_lock(key))
step("take briefly", lambda: take(1))
step("expire, before", take)
step("expire", lambda: poll(take))
step("release again", lambda: backend.clear_lock(key))

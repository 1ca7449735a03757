"""What redlockd refuses: portalocker's RedisLock, rq."""

import sys

import redis

from steps import HOST, PORT, PREFIX, refused, step, version


def portalocker():
    import portalocker

    version("portalocker", "redis")

    def lock():
        connection = redis.Redis(HOST, PORT, decode_responses=True)
        return portalocker.RedisLock(PREFIX + "channel", connection=connection, timeout=3, fail_when_locked=True)

    mine, other = lock(), lock()
    step("take", lambda: mine.acquire() is mine)
    refused("refuse", other.acquire)
    step("release", mine.release)
    step("take again", lambda: other.acquire() is other)
    step("release again", other.release)


def rq():
    from rq import Queue

    version("rq", "redis")
    queue = Queue(PREFIX + "queue", connection=redis.Redis(HOST, PORT))
    step("enqueue", lambda: queue.enqueue("os.getpid") is not None)
    step("waiting", lambda: queue.count)


{"portalocker": portalocker, "rq": rq}[sys.argv[1]]()

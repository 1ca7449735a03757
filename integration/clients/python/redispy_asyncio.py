"""redis-py's asyncio Lock, with tasks."""

import asyncio
import time

import redis.asyncio as redis

from steps import HOST, PORT, PREFIX, tell, version


async def step(name, awaitable):
    try:
        result = await awaitable
    except Exception as e:
        result = "FAILED %s: %s" % (type(e).__name__, e)
    tell(name, result)


async def refused(name, awaitable):
    try:
        tell(name, "FAILED: no error, but %r" % (await awaitable,))
    except Exception as e:
        tell(name, "%s: %s" % (type(e).__name__, e))


async def main():
    version("redis")
    r = redis.Redis(host=HOST, port=PORT)
    key = PREFIX + "asyncio"

    def lock(**how):
        return r.lock(key, **{"timeout": 30, "thread_local": False, **how})

    mine, other = lock(), lock()
    await step("take", mine.acquire(blocking=False))
    await step("refuse", other.acquire(blocking=False))
    await step("query", mine.locked())
    await step("owned", mine.owned())
    await step("extend", mine.extend(10))
    await step("reacquire", mine.reacquire())
    other.local.token = b"another token"
    await refused("extend wrong", other.extend(10))
    await refused("release wrong", other.release())
    await step("release", mine.release())
    mine.local.token = b"a token"
    await refused("extend missing", mine.extend(10))
    mine.local.token = b"a token"
    await refused("release missing", mine.release())

    await step("take briefly", lock(timeout=0.2).acquire(blocking=False))
    await step("expire, before", other.acquire(blocking=False))
    await step("expire", lock(sleep=0.01).acquire(blocking_timeout=10, token="next"))
    other.local.token = b"next"

    async def wait():
        async def later():
            await asyncio.sleep(0.3)
            await other.release()

        start = time.monotonic()
        task = asyncio.create_task(later())
        took = await third.acquire()
        await task
        return took and time.monotonic() - start >= 0.29

    third = lock(sleep=0.01)
    await step("wait", wait())
    await step("release after waiting", third.release())
    await step("many, unique tokens", contest(lock, None))
    await step("many, equal tokens", contest(lock, "the same"))
    await r.aclose() if hasattr(r, "aclose") else await r.close()


async def contest(lock, token):
    state = {"inside": 0, "most": 0, "done": 0}

    async def work():
        for _ in range(5):
            l = lock(sleep=0.005)
            if not await l.acquire(blocking_timeout=20, token=token):
                raise RuntimeError("not taken in 20 s")
            state["inside"] += 1
            state["most"] = max(state["most"], state["inside"])
            await asyncio.sleep(0.001)
            state["inside"] -= 1
            state["done"] += 1
            await l.release()

    await asyncio.gather(*(work() for _ in range(8)))
    return {"rounds": state["done"], "at once": state["most"]}


asyncio.run(main())

"""aioredlock over one server."""

import asyncio
import time

from aioredlock import Aioredlock, Lock

from steps import HOST, PORT, PREFIX, tell, version


async def step(name, awaitable, want=None):
    try:
        result = await awaitable
        result = result if isinstance(result, (bool, str, dict)) else True
        if want:
            result = "FAILED: no error"
    except Exception as e:
        result = "%s%s" % ("" if want else "FAILED ", type(e).__name__)
    tell(name, result)


async def main():
    version("aioredlock", "aioredis")
    at = [{"host": HOST, "port": PORT}]
    once = Aioredlock(at, retry_count=1, internal_lock_timeout=30)
    often = Aioredlock(at, retry_count=1000, retry_delay_min=0.01, retry_delay_max=0.02, internal_lock_timeout=30)
    key = PREFIX + "aioredlock"
    held = {}

    async def take(by=once, timeout=30, name="lock"):
        held[name] = await by.lock(key, lock_timeout=timeout)

    wrong = Lock(once, key, "another token", lock_timeout=30, valid=True)
    absent = Lock(once, key + "none", "a token", lock_timeout=30, valid=True)
    await step("take", take())
    await step("refuse", take(name="no"), want="an error")
    await step("query", once.is_locked(held["lock"]))
    await step("query by name", once.is_locked(key))
    await step("extend", once.extend(held["lock"]))
    await step("extend wrong", once.extend(wrong), want="an error")
    await step("release wrong", once.unlock(wrong), want="an error")
    await step("release", once.unlock(held["lock"]))
    await step("release missing", once.unlock(absent))
    await step("extend missing", once.extend(Lock(once, key + "new", "a token", lock_timeout=30, valid=True)))
    await step("take briefly", take(timeout=1))
    await step("expire, before", take(name="no"), want="an error")
    await asyncio.sleep(0.5)
    held["lock"].valid = False
    await step("expire", take(often, name="next"))

    async def wait():
        async def later():
            await asyncio.sleep(0.3)
            await often.unlock(held["next"])

        start = time.monotonic()
        task = asyncio.create_task(later())
        await take(often, name="after")
        await task
        return time.monotonic() - start >= 0.29

    await step("wait", wait())
    await step("release after waiting", often.unlock(held["after"]))
    await step("many, unique tokens", contest(often, key))
    await once.destroy()
    await often.destroy()


async def contest(manager, key):
    state = {"inside": 0, "most": 0, "done": 0}

    async def work():
        for _ in range(5):
            lock = await manager.lock(key, lock_timeout=30)
            state["inside"] += 1
            state["most"] = max(state["most"], state["inside"])
            await asyncio.sleep(0.001)
            state["inside"] -= 1
            state["done"] += 1
            await manager.unlock(lock)

    await asyncio.gather(*(work() for _ in range(6)))
    return {"rounds": state["done"], "at once": state["most"]}


asyncio.run(main())

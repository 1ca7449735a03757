"""A plugin of pytest for redlockd: tests that empty the database between them do
so by FLUSHDB, which redlockd refuses. Here it forces the locks out."""
import redis
import redis.asyncio


def flush(self, *args, **kwargs):
    for key in self.scan_iter(count=1000):
        self.execute_command("LOCKS", "FORCE", key)
    return True


async def flush_async(self, *args, **kwargs):
    async for key in self.scan_iter(count=1000):
        await self.execute_command("LOCKS", "FORCE", key)
    return True


redis.Redis.flushdb = redis.Redis.flushall = flush
redis.asyncio.Redis.flushdb = redis.asyncio.Redis.flushall = flush_async

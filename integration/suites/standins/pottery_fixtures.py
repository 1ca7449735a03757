"""The fixtures that pottery's tests ask for, which its package lacks: clients of a
database that is empty before and after."""
import pytest
import pytest_asyncio
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

URL = "redis://localhost:6379/1"


@pytest.fixture
def redis():
    client = Redis.from_url(URL, socket_timeout=5)
    client.flushdb()
    yield client
    client.flushdb()


@pytest_asyncio.fixture
async def aioredis():
    client = AsyncRedis.from_url(URL, socket_timeout=5)
    await client.flushdb()
    yield client
    await client.flushdb()
    await client.aclose()

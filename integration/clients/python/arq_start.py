"""How arq's worker starts a job: by a key that it makes in a transaction, after a WATCH.

Its queue stays on its own Redis, beside redlockd. Here a job is always due.
"""

import asyncio

from arq.connections import ArqRedis
from arq.constants import in_progress_key_prefix
from arq.worker import Worker

from steps import ELSEWHERE, HOST, PORT, PREFIX, poll, spread, step, version

version("arq", "redis")


class Locks(ArqRedis):
    """Calls what `between` has as the EXISTS of a transaction begins, and as it ends."""

    between = ()

    def pipeline(self, *args, **kwargs):
        pipe = super().pipeline(*args, **kwargs)
        exists = pipe.exists

        async def interrupted(key):
            calls, self.between = self.between or (bool, bool), ()
            await asyncio.to_thread(calls[0])
            there = await exists(key)
            await asyncio.to_thread(calls[1])
            return there

        async def due(queue, job):
            return 1

        pipe.exists, pipe.zscore = interrupted, due
        return pipe


class Starter(Worker):
    """A worker of one job."""

    def __init__(self, address=(HOST, PORT), job="job"):
        self.locks, self.job = Locks(host=address[0], port=int(address[1])), PREFIX + job
        super().__init__([self.run_job], redis_pool=self.locks, handle_signals=False, job_timeout=50)
        self.loop = asyncio.new_event_loop()
        self.key = in_progress_key_prefix + self.job

    async def run_job(self, job, score):
        """arq's own would read the job from the queue."""

    def take(self, *between):
        self.locks.between = between
        self.loop.run_until_complete(self.start_jobs([self.job.encode()]))
        return self.tasks.pop(self.job, None) is not None

    def release(self):
        return self.ask("delete")

    def ask(self, command, *args):
        return self.loop.run_until_complete(getattr(self.locks, command)(self.key, *args))


mine, other = Starter(), Starter(ELSEWHERE)
step("start", mine.take)
step("refuse", other.take)
step("value", lambda: mine.ask("get"))
step("TTL", lambda: 55_000 < mine.ask("pttl") <= 60_000)
step("finish", mine.release)
step("finish again", mine.release)
step("start again", other.take)
step("keep", lambda: other.ask("pexpire", 300))
step("expire", lambda: poll(mine.take))
step("finish what expired", mine.release)
step("started by another", lambda: mine.take(bool, other.take))
step("finished, read, started by another", lambda: mine.take(other.release, other.take))
step("finished and started by another", lambda: mine.take(lambda: (other.release(), other.take()), bool))
step("finished by another", lambda: mine.take(other.release, bool))
step("finish by another", other.release)
step("six", lambda: spread(lambda address: Starter(address, "six")))

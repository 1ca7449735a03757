"""redis-py's WATCH, MULTI, pipelines and databases."""

import redis

from steps import HOST, PORT, PREFIX, refused, step, version

version("redis")
r = redis.Redis(HOST, PORT)
key = PREFIX + "watched"


def extended(meddle):
    r.set(key, "one", nx=True, px=30000)
    with r.pipeline() as p:
        p.watch(key)
        got = p.get(key)
        meddle()
        p.multi()
        p.pexpire(key, 20000)
        return [got] + p.execute()


step("WATCH, one command", lambda: extended(lambda: None))
refused("WATCH, one command, changed", lambda: extended(lambda: r.delete(key)))


def watched(meddle):
    r.set(key, "one", nx=True, px=30000)
    with r.pipeline() as p:
        p.watch(key)
        got = p.get(key)
        meddle()
        p.multi()
        p.pexpire(key, 20000)
        p.delete(key)
        return [got] + p.execute()


step("WATCH, two commands", lambda: watched(lambda: None))
refused("WATCH, two commands, changed", lambda: watched(lambda: r.delete(key)))


def pipelined():
    p = r.pipeline(transaction=False)
    p.set(key, "one", nx=True, px=30000).set(key, "two", nx=True, px=30000).get(key).delete(key).get(key)
    return p.execute()


step("pipeline", pipelined)


def in_multi():
    p = r.pipeline(transaction=True)
    p.set(key, "one", nx=True, px=30000).delete(key)
    return p.execute()


step("MULTI without WATCH", in_multi)
step("database", lambda: redis.Redis(HOST, PORT, db=3, client_name="bench").lock(key, timeout=5).acquire(blocking=False))

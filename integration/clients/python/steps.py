"""What the Python programs share: how a step is told, and contests."""

import importlib.metadata
import json
import os
import sys
import threading
import time

HOST, PORT, PREFIX = sys.argv[-3], int(sys.argv[-2]), sys.argv[-1]
# Host and port of another redlockd over the same masters, where there is one.
ELSEWHERE = os.environ.get("BENCH_ELSEWHERE", "%s:%d" % (HOST, PORT)).split(":")
PASSWORD = os.environ.get("BENCH_PASSWORD")

_print = threading.Lock()


def tell(step, result):
    with _print:
        print(json.dumps({step: plain(result)}), flush=True)


def plain(value):
    """JSON has no bytes, and numbers of time are told by the caller."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def version(*packages):
    tell("version", " ".join(importlib.metadata.version(p) for p in packages))


def step(name, call):
    """Tells what call returns; an error it raises is a failure."""
    try:
        result = call()
    except Exception as e:  # any: a library's own, or its client's
        result = "FAILED %s: %s" % (type(e).__name__, e)
    tell(name, result)
    return result


def refused(name, call):
    """Tells the error that call should raise, by type and text."""
    try:
        tell(name, "FAILED: no error, but %r" % (plain(call()),))
    except Exception as e:
        tell(name, "%s: %s" % (type(e).__name__, e))


def poll(call, seconds=10.0):
    """Calls until it is true. The masters keep a lock a little longer."""
    end = time.monotonic() + seconds
    while not call():
        if time.monotonic() > end:
            return "still refused after %g s" % seconds
        time.sleep(0.005)
    return True


def wait_for(release, take):
    """Whether take, which blocks, ends after the release 300 ms later."""
    problems = []

    def later():
        time.sleep(0.3)
        try:
            release()
        except Exception as e:
            problems.append("FAILED release %s: %s" % (type(e).__name__, e))

    thread = threading.Thread(target=later)
    start = time.monotonic()
    thread.start()
    took = take()
    waited = time.monotonic() - start
    thread.join()
    if problems:
        return problems[0]
    if not took:
        return "not taken"
    return waited >= 0.29 and (waited < 5 or "late by more than 4 s")


def wakes(take, release, take_elsewhere, release_elsewhere, rounds=5):
    """Whether a release wakes, each time at once, who waits at another redlockd.

    A client that is not woken looks again by a timer, a second later or more.
    """
    slow = 0
    for _ in range(rounds):
        take()
        woken = {}

        def wait():
            woken["took"] = take_elsewhere()
            woken["at"] = time.monotonic()

        waiter = threading.Thread(target=wait)
        waiter.start()
        time.sleep(0.3)
        release()
        released = time.monotonic()
        waiter.join()
        if not woken["took"]:
            return "not taken"
        slow += woken["at"] - released > 0.5
        release_elsewhere()
    return slow < rounds or "each time late by more than 0.5 s"


def contest(take, workers=6, rounds=5):
    """Lets workers want one lock at once. take blocks and returns a release."""
    state = {"inside": 0, "most": 0, "done": 0}
    guard = threading.Lock()
    problems = []

    def work(worker):
        try:
            for _ in range(rounds):
                release = take(worker)
                with guard:
                    state["inside"] += 1
                    state["most"] = max(state["most"], state["inside"])
                time.sleep(0.001)
                with guard:
                    state["inside"] -= 1
                    state["done"] += 1
                release()
        except Exception as e:
            problems.append("FAILED %s: %s" % (type(e).__name__, e))

    threads = [threading.Thread(target=work, args=(w,)) for w in range(workers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return problems[0] if problems else {"rounds": state["done"], "at once": state["most"]}


def spread(kind):
    """A contest of six of a kind, half of them elsewhere, that ask again and again.

    Two redlockd may split the votes between them, where no master can be spared. Then
    nobody is in, and what a transaction has put there stays until its TTL ends.
    """
    six = [kind([(HOST, PORT), ELSEWHERE][i % 2]) for i in range(6)]

    def ask(worker):
        try:
            return six[worker].take()
        except Exception as e:
            if not str(e).startswith("NOQUORUM"):
                raise

    def take(worker):
        taken = poll(lambda: ask(worker), 60)
        if taken is not True:
            raise RuntimeError(taken)
        return six[worker].release

    return contest(take, workers=6, rounds=10)

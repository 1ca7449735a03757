"""redis-py behind one address for several redlockd (integration/front): it takes and releases a
lock that others want, too, and extends one that nobody else may get, until its input ends."""

import sys
import threading
import time
import uuid

import redis

HOST, PORT, PREFIX = sys.argv[1], int(sys.argv[2]), sys.argv[3]
RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"

r = redis.Redis(HOST, PORT, socket_timeout=1, socket_connect_timeout=1)


def call(kind, do):
    """Tells what was called, when it was sent and answered, and the answer: 1, 0 or an error."""
    sent = time.time()
    try:
        answer = "1" if do() else "0"
    except redis.RedisError as e:
        answer = "%s: %s" % (type(e).__name__, " ".join(str(e).split()))
    print(kind, "%.3f" % (sent * 1000), "%.3f" % (time.time() * 1000), answer, flush=True)
    return answer == "1"


over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
held, wanted, mine = PREFIX + "held", PREFIX + "wanted", uuid.uuid4().hex
call("hold", lambda: r.set(held, mine, nx=True, px=20000))
while not over.is_set():
    token = uuid.uuid4().hex
    if call("take", lambda: r.set(wanted, token, nx=True, px=2000)):
        call("release", lambda: r.eval(RELEASE, 1, wanted, token))
    call("extend", lambda: r.eval(EXTEND, 1, held, mine, 20000))
    time.sleep(0.02)

package clients;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.netflix.spectator.api.NoopRegistry;
import com.netflix.spinnaker.kork.jedis.JedisClientDelegate;
import com.netflix.spinnaker.kork.jedis.lock.RedisLockManager;
import com.netflix.spinnaker.kork.lock.LockManager.AcquireLockResponse;
import com.netflix.spinnaker.kork.lock.LockManager.Lock;
import com.netflix.spinnaker.kork.lock.LockManager.LockOptions;
import com.netflix.spinnaker.kork.lock.RefreshableLockManager.HeartbeatLockRequest;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;

/** Spinnaker's RedisLockManager, whose locks are JSON objects. */
public final class Spinnaker {
    private final Steps s;
    private final JedisPool pool;
    private final String prefix;

    private Spinnaker(Steps s) {
        this.s = s;
        prefix = s.prefix.replaceAll("[^A-Za-z0-9]", "."); // what its names may have
        JedisPoolConfig config = new JedisPoolConfig();
        config.setMaxTotal(64);
        pool = new JedisPool(config, s.host, s.port);
    }

    public static void main(String[] args) throws Exception {
        Steps s = new Steps(args);
        s.version(RedisLockManager.class, Jedis.class);
        Spinnaker b = new Spinnaker(s);
        b.byHand();
        b.whileItRuns();
        s.step("contest", () -> b.contest());
        System.exit(0); // its heartbeats would go on
    }

    private RedisLockManager manager(String owner, long heartbeat, long lease) {
        return new RedisLockManager(owner, Clock.systemUTC(), new NoopRegistry(), new ObjectMapper(),
            new JedisClientDelegate("default", pool), Optional.of(heartbeat), Optional.of(lease));
    }

    private LockOptions options(String name, long version) {
        return new LockOptions().withLockName(prefix + name).withVersion(version)
            .withMaximumLockDuration(Duration.ofMinutes(1)).withSuccessInterval(Duration.ZERO).withFailureInterval(Duration.ofSeconds(40));
    }

    /** Each script in each state. */
    private void byHand() throws Exception {
        RedisLockManager a = manager("a", 3_600_000, 30_000), b = manager("b", 3_600_000, 30_000);
        Lock mine = a.tryCreateLock(options("one", 1));
        s.tell("take", told(mine));
        s.step("take once more", () -> told(a.tryCreateLock(options("one", 2))));
        s.step("take what another one has", () -> told(b.tryCreateLock(options("one", 3))));
        Lock renewed = a.heartbeat(request(mine)).getLock();
        s.tell("renew", told(renewed));
        s.step("left", () -> left(a, "one"));
        s.step("renew an earlier version", () -> a.heartbeat(request(mine)).getLockStatus());
        s.step("renew another one's", () -> b.heartbeat(request(renewed)).getLockStatus());
        s.step("release another one's", () -> b.releaseLock(renewed, true));
        s.step("release an earlier version", () -> a.releaseLock(mine, true));
        s.step("release after a failure", () -> a.releaseLock(renewed, false));
        s.step("left for the next one", () -> left(a, "one"));
        s.step("release", () -> a.releaseLock(renewed, true));
        s.step("release what is free", () -> a.releaseLock(renewed, true));
        s.step("renew what is free", () -> a.heartbeat(request(renewed)).getLockStatus());
        s.step("take it after that", () -> Steps.poll(5000, () -> b.tryCreateLock(options("one", 4)).getOwnerName().equals("b")));
    }

    /** The lock is held while the work lasts, beyond its lease. */
    private void whileItRuns() {
        RedisLockManager a = manager("a", 200, 1000), b = manager("b", 200, 1000);
        s.step("work", () -> a.acquireLock(options("two", 1), () -> {
            Thread.sleep(2500); // more than two leases
            AcquireLockResponse<String> other = b.acquireLock(options("two", 2), () -> "both");
            return other.getLockStatus() + " " + other.getOnLockAcquiredCallbackResult();
        }).getOnLockAcquiredCallbackResult());
        s.step("work after that", () -> b.acquireLock(options("two", 3), () -> "done").getOnLockAcquiredCallbackResult());
        s.refused("work that fails", () -> b.acquireLock(options("three", 1).withFailureInterval(Duration.ZERO), () -> {
            throw new IllegalStateException("no");
        }));
        s.step("work after a failure", () -> a.acquireLock(options("three", 2), () -> "done").getOnLockAcquiredCallbackResult());
    }

    private Object contest() throws Exception {
        RedisLockManager[] managers = new RedisLockManager[4];
        for (int i = 0; i < managers.length; i++) {
            managers[i] = manager("worker-" + i, 3_600_000, 30_000);
        }
        AtomicInteger version = new AtomicInteger();
        return Steps.contest(managers.length, 5, worker -> {
            for (;;) {
                LockOptions options = options("contest", version.incrementAndGet());
                Lock lock = managers[worker].tryCreateLock(options);
                if (lock.getVersion() == options.getVersion() && lock.getOwnerName().equals("worker-" + worker)) {
                    return () -> managers[worker].releaseLock(lock, true);
                }
                Thread.sleep(2);
            }
        });
    }

    private static HeartbeatLockRequest request(Lock lock) {
        return new HeartbeatLockRequest(lock, new AtomicInteger(3), Clock.systemUTC(), Duration.ofMinutes(1), false);
    }

    private String told(Lock lock) {
        return lock.getOwnerName() + " " + lock.getVersion() + " " + lock.getLeaseDurationMillis() + " " + lock.getFailureIntervalMillis();
    }

    /** The time left in seconds, to ten of them. */
    private long left(RedisLockManager manager, String name) {
        try (Jedis jedis = pool.getResource()) {
            return Math.round(jedis.pttl(manager.lockKey(prefix + name)) / 10_000.0) * 10;
        }
    }
}

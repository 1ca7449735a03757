package clients;

import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's locks: those in a hash of one holder, and those that redlockd refuses. */
public final class RedissonLock {
    public static void main(String[] args) throws Exception {
        Steps s = new Steps(args);
        s.version(Redisson.class);
        RedissonClient one = client(s), two = client(s);
        String key = s.prefix + "redisson";
        switch (s.own[0]) {
            case "RLock" -> steps(s, one, two, c -> c.getLock(key));
            case "RSpinLock" -> steps(s, one, two, c -> c.getSpinLock(key));
            case "RMultiLock" -> steps(s, one, two, c -> c.getMultiLock(c.getLock(key + 1), c.getLock(key + 2), c.getLock(key + 3)));
            case "RReadWriteLock" -> s.step("take", () -> one.getReadWriteLock(key).readLock().tryLock());
            case "RFairLock" -> s.step("take", () -> one.getFairLock(key).tryLock());
            case "RFencedLock" -> s.step("take", () -> one.getFencedLock(key).tryLock());
            case "RSemaphore" -> s.step("take", () -> one.getSemaphore(key).trySetPermits(2));
            case "RPermitExpirableSemaphore" -> s.step("take", () -> one.getPermitExpirableSemaphore(key).trySetPermits(2));
            case "RCountDownLatch" -> s.step("take", () -> one.getCountDownLatch(key).trySetCount(1));
            case "RRateLimiter" -> s.step("take", () -> one.getRateLimiter(key).trySetRate(org.redisson.api.RateType.OVERALL, 1, 1, org.redisson.api.RateIntervalUnit.SECONDS));
            case "FasterMultiLock" -> s.step("take", () -> new org.redisson.RedissonFasterMultiLock(((Redisson) one).getCommandExecutor(), key, java.util.List.of("a", "b")).tryLock());
            default -> throw new IllegalArgumentException(s.own[0]);
        }
        System.exit(0);
    }

    private static RedissonClient client(Steps s) {
        Config config = new Config();
        config.setLockWatchdogTimeout(1500);
        config.useSingleServer().setAddress("redis://" + s.host + ":" + s.port).setPassword(Steps.PASSWORD)
                .setConnectionMinimumIdleSize(1).setConnectionPoolSize(8).setSubscriptionConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }

    /** The steps of a lock that one client and another one want. */
    static void steps(Steps s, RedissonClient one, RedissonClient two, Function<RedissonClient, RLock> lock) {
        RLock mine = lock.apply(one), other = lock.apply(two);
        boolean single = !(mine instanceof org.redisson.RedissonMultiLock);
        s.step("take", () -> mine.tryLock(0, 30, TimeUnit.SECONDS));
        s.step("refuse", () -> other.tryLock(0, 30, TimeUnit.SECONDS));
        s.step("release wrong", () -> unlocks(other));
        if (single) {
            s.step("take again", () -> mine.tryLock(0, 30, TimeUnit.SECONDS));
            s.step("count", () -> mine.getHoldCount());
            s.step("is held", () -> mine.isLocked() + " " + mine.isHeldByCurrentThread() + " " + other.isHeldByCurrentThread());
            s.step("TTL", () -> mine.remainTimeToLive() > 20000 && mine.remainTimeToLive() <= 30000);
            s.step("release once", () -> unlocks(mine) + " " + mine.getHoldCount());
        }
        s.step("release", () -> unlocks(mine));
        s.step("release missing", () -> unlocks(mine));
        s.step("take briefly", () -> mine.tryLock(0, 400, TimeUnit.MILLISECONDS));
        s.step("expire, before", () -> other.tryLock(0, 30, TimeUnit.SECONDS));
        s.step("expire", () -> Steps.poll(10000, () -> other.tryLock(0, 30, TimeUnit.SECONDS)));
        long owner = Thread.currentThread().getId();
        s.step("wait", () -> Steps.waitFor(() -> other.unlockAsync(owner).toCompletableFuture().get(), () -> {
            if (!mine.tryLock(20, 30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("not taken");
            }
            return true;
        }));
        s.step("release after waiting", () -> unlocks(mine));
        s.step("renewed by itself", () -> {
            mine.lock();
            Thread.sleep(4000);
            return other.tryLock();
        });
        s.step("release renewed", () -> unlocks(mine));
        if (single) {
            s.step("forced", () -> mine.tryLock() + " " + other.forceUnlock() + " " + unlocks(mine) + " " + other.isLocked());
        }
        s.step("many", () -> Steps.contest(6, 5, w -> {
            RLock l = w % 2 == 0 ? mine : other;
            if (!l.tryLock(30, 30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("not taken");
            }
            return l::unlock;
        }));
    }

    /** Whether an unlock was of one's own lock. */
    private static boolean unlocks(RLock lock) {
        try {
            lock.unlock();
            return true;
        } catch (IllegalMonitorStateException e) {
            return false;
        }
    }
}

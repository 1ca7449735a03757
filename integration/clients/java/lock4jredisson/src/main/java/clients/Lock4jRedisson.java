package clients;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.executor.RedissonLockExecutor;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** lock4j's executor over Redisson: the same thread takes a lock again, another one does not. */
public final class Lock4jRedisson {
    public static void main(String[] args) {
        Steps s = new Steps(args);
        s.version(LockInfo.class, Redisson.class);
        RedissonLockExecutor one = new RedissonLockExecutor(client(s)), two = new RedissonLockExecutor(client(s));
        String key = s.prefix + "lock4j";
        RLock[] held = new RLock[2];
        s.step("take", () -> (held[0] = one.acquire(key, "one", 30000, 100)) != null);
        s.step("refuse", () -> two.acquire(key, "two", 30000, 100) == null);
        s.step("release", () -> one.releaseLock(key, "one", held[0]));
        s.step("release missing", () -> one.releaseLock(key, "one", held[0]));
        s.step("take briefly", () -> one.acquire(key, "one", 300, 100) != null);
        s.step("expire", () -> Steps.poll(10000, () -> (held[1] = two.acquire(key, "two", 30000, 50)) != null));
        s.step("release after it", () -> two.releaseLock(key, "two", held[1]));
        s.step("many", () -> Steps.contest(6, 5, w -> {
            RedissonLockExecutor executor = w % 2 == 0 ? one : two;
            RLock lock = executor.acquire(key, "worker " + w, 30000, 30000);
            return () -> executor.releaseLock(key, "worker " + w, lock);
        }));
        System.exit(0);
    }

    private static RedissonClient client(Steps s) {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://" + s.host + ":" + s.port).setConnectionMinimumIdleSize(1).setConnectionPoolSize(8);
        return Redisson.create(config);
    }
}

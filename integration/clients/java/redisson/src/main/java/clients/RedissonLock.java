package clients;

import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's RLock, which redlockd refuses. */
public final class RedissonLock {
    public static void main(String[] args) {
        Steps s = new Steps(args);
        s.version(Redisson.class);
        Config config = new Config();
        config.useSingleServer().setAddress("redis://" + s.host + ":" + s.port).setRetryAttempts(0)
                .setConnectionMinimumIdleSize(1).setConnectionPoolSize(2);
        RedissonClient client = Redisson.create(config);
        RLock lock = client.getLock(s.prefix + "redisson");
        s.step("take", () -> lock.tryLock(0, 30, TimeUnit.SECONDS));
        s.step("release", () -> {
            lock.unlock();
            return lock.isLocked();
        });
        System.exit(0);
    }
}

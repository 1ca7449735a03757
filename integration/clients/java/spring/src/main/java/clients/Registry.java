package clients;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.integration.support.locks.DistributedLock;

/** Spring Integration's RedisLockRegistry: SPIN_LOCK or PUB_SUB_LOCK. */
public final class Registry {
    private static Steps s;
    private static LettuceConnectionFactory connections;

    public static void main(String[] args) throws Exception {
        s = new Steps(args);
        s.version(RedisLockRegistry.class);
        connections = connect(s.host, s.port);
        run(s.prefix + "registry");
        System.exit(0);
    }

    private static LettuceConnectionFactory connect(String host, int port) {
        LettuceConnectionFactory made = new LettuceConnectionFactory(host, port);
        made.afterPropertiesSet();
        made.start();
        return made;
    }

    private static RedisLockRegistry registry(String key, long ms) {
        return registry(connections, key, ms);
    }

    /** A registry is one holder: its token is its own for all its locks. */
    private static RedisLockRegistry registry(LettuceConnectionFactory by, String key, long ms) {
        RedisLockRegistry r = new RedisLockRegistry(by, key, ms);
        r.setRedisLockType(RedisLockType.valueOf(s.own[0]));
        return r;
    }

    private static void run(String key) throws Exception {
        StringRedisTemplate template = new StringRedisTemplate(connections);
        RedisLockRegistry mine = registry(key, 30000), other = registry(key, 30000);
        DistributedLock lock = mine.obtain("a"), theirs = other.obtain("a");
        s.step("take", () -> lock.tryLock());
        s.step("refuse", () -> theirs.tryLock());
        s.step("take once more", () -> lock.tryLock());
        s.step("release once", () -> { lock.unlock(); return theirs.tryLock(); });
        s.step("extend", () -> { mine.renewLock("a", Duration.ofSeconds(60)); return "done"; });
        s.step("extended", () -> { long ms = template.getExpire(key + ":a", TimeUnit.MILLISECONDS); return ms > 55000 && ms <= 60000; });
        s.refused("extend wrong", () -> { other.renewLock("a"); return "done"; });
        s.refused("release wrong", () -> { theirs.unlock(); return "done"; });
        s.step("release", () -> { lock.unlock(); return template.hasKey(key + ":a"); });
        s.refused("release missing", () -> { lock.unlock(); return "done"; });

        DistributedLock brief = registry(key, 300).obtain("b");
        s.step("take briefly", () -> brief.tryLock());
        s.step("expire, before", () -> other.obtain("b").tryLock());
        s.step("expire", () -> other.obtain("b").tryLock(10, TimeUnit.SECONDS));
        s.refused("release after its end", () -> { brief.unlock(); return "done"; });
        s.step("the next one holds", () -> mine.obtain("b").tryLock());
        other.obtain("b").unlock();

        wait(mine, other, "", 5000);
        String[] there = s.elsewhere.split(":");
        // A message wakes it at once; without one it would wait for all of its 10 s.
        wait(mine, registry(connect(there[0], Integer.parseInt(there[1])), key, 30000), " elsewhere", 1500);
        s.step("many, a registry each", () -> Steps.contest(5, 5, w -> enter(registries(key)[w])));
        RedisLockRegistry same = registry(key, 30000);
        s.step("many, one registry", () -> Steps.contest(5, 5, w -> enter(same)));
    }

    private static RedisLockRegistry[] all;

    private static synchronized RedisLockRegistry[] registries(String key) {
        if (all == null) {
            all = new RedisLockRegistry[5];
            for (int i = 0; i < all.length; i++) {
                all[i] = registry(key, 30000);
            }
        }
        return all;
    }

    private static Steps.Release enter(RedisLockRegistry registry) throws Exception {
        DistributedLock l = registry.obtain("many");
        if (!l.tryLock(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not taken in 30 s");
        }
        return l::unlock;
    }

    /** The holder must release from the thread that took, after 300 ms. */
    private static void wait(RedisLockRegistry mine, RedisLockRegistry other, String where, long most) throws Exception {
        DistributedLock l = mine.obtain("c");
        java.util.concurrent.CountDownLatch taken = new java.util.concurrent.CountDownLatch(1);
        Thread holder = new Thread(() -> {
            l.lock();
            taken.countDown();
            try {
                Thread.sleep(300);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            l.unlock();
        });
        holder.start();
        taken.await();
        long start = System.nanoTime();
        s.step("wait" + where, () -> other.obtain("c").tryLock(10, TimeUnit.SECONDS));
        long ms = (System.nanoTime() - start) / 1_000_000;
        holder.join();
        s.tell("waited" + where, ms >= 250 && ms < most ? "about as long" : ms + " ms");
        s.step("release after waiting" + where, () -> { other.obtain("c").unlock(); return "done"; });
    }
}

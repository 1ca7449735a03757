package clients;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** lock4j's executor over Spring's RedisTemplate. */
public final class Lock4j {
    private static RedisTemplateLockExecutor executor;

    public static void main(String[] args) {
        Steps s = new Steps(args);
        s.version(LockInfo.class);
        LettuceConnectionFactory connections = new LettuceConnectionFactory(s.host, s.port);
        connections.afterPropertiesSet();
        StringRedisTemplate template = new StringRedisTemplate(connections);
        var properties = new com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties();
        executor = new RedisTemplateLockExecutor(template, properties);
        String key = s.prefix + "lock4j";
        s.step("take", () -> take(key, "one", 30000));
        s.step("refuse", () -> take(key, "two", 30000));
        s.step("release wrong", () -> executor.releaseLock(key, "two", "two"));
        s.step("release", () -> executor.releaseLock(key, "one", "one"));
        s.step("release missing", () -> executor.releaseLock(key, "one", "one"));
        s.step("take briefly", () -> take(key, "one", 300));
        s.step("expire, before", () -> take(key, "two", 30000));
        s.step("expire", () -> Steps.poll(10000, () -> take(key, "two", 30000)));
        s.step("wait", () -> Steps.waitFor(() -> executor.releaseLock(key, "two", "two"),
                () -> Steps.poll(10000, () -> take(key, "three", 30000))));
        s.step("release after waiting", () -> executor.releaseLock(key, "three", "three"));
        s.step("renewed by itself", () -> {
            String lock = executor.acquire(key, "kept", -1, 1000);
            Thread.sleep(2000);
            boolean[] seen = {lock != null, "kept".equals(template.opsForValue().get(key))};
            return java.util.List.of(seen[0], seen[1]);
        });
        s.step("release renewed", () -> executor.releaseLock(key, "kept", "kept"));
        s.step("many, unique tokens", () -> Steps.contest(6, 5, w -> {
            String token = "worker " + w;
            Steps.poll(20000, () -> take(key, token, 30000));
            return () -> executor.releaseLock(key, token, token);
        }));
        System.exit(0);
    }

    private static boolean take(String key, String token, long ms) {
        return executor.acquire(key, token, ms, 1000) != null;
    }
}

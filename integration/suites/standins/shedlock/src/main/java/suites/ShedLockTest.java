package suites;

import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** ShedLock's own tests of a provider, as its package has them, of the one for Redis. */
public class ShedLockTest extends AbstractExtensibleLockProviderIntegrationTest {
    private JedisConnectionFactory connections;

    @BeforeEach
    public void connect() {
        connections = new JedisConnectionFactory();
        connections.afterPropertiesSet();
        connections.start();
    }

    @AfterEach
    public void disconnect() {
        connections.destroy();
    }

    @Override
    protected ExtensibleLockProvider getLockProvider() {
        return new RedisLockProvider(connections, "tests", "job-lock");
    }

    @Override
    protected void assertUnlocked(String name) {
        Assertions.assertNull(value(name));
    }

    @Override
    protected void assertLocked(String name) {
        Assertions.assertNotNull(value(name));
    }

    private String value(String name) {
        return new StringRedisTemplate(connections).opsForValue().get("job-lock:tests:" + name);
    }
}

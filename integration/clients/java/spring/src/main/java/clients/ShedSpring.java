package clients;

import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** ShedLock over Spring's connections: as it comes, or safe, which compares. */
public final class ShedSpring {
    public static void main(String[] args) {
        Steps s = new Steps(args);
        s.version(RedisLockProvider.class);
        LettuceConnectionFactory connections = new LettuceConnectionFactory(s.host, s.port);
        connections.afterPropertiesSet();
        connections.start();
        boolean safe = s.own[0].equals("safe");
        Shed.run(s, provider(connections, safe), provider(connections, safe));
        System.exit(0);
    }

    private static LockProvider provider(LettuceConnectionFactory connections, boolean safe) {
        return new RedisLockProvider.Builder(connections).environment("bench").safeUpdate(safe).build();
    }
}

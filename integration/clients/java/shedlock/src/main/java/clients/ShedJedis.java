package clients;

import net.javacrumbs.shedlock.provider.redis.jedis4.JedisLockProvider;
import redis.clients.jedis.JedisPool;

/** ShedLock over Jedis. */
public final class ShedJedis {
    public static void main(String[] args) {
        Steps s = new Steps(args);
        s.version(JedisLockProvider.class, JedisPool.class);
        JedisPool pool = new JedisPool(s.host, s.port);
        Shed.run(s, new JedisLockProvider(pool, "bench"), new JedisLockProvider(pool, "bench"));
        System.exit(0);
    }
}

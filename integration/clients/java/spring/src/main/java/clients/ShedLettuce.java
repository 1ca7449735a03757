package clients;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.redis.support.InternalRedisLockProvider;
import net.javacrumbs.shedlock.provider.redis.support.InternalRedisLockTemplate;

/** ShedLock over Lettuce, where the package that joins the two cannot be had: this joins them. */
public final class ShedLettuce {
    public static void main(String[] args) {
        Steps s = new Steps(args);
        s.version(InternalRedisLockProvider.class, RedisClient.class);
        RedisClient client = RedisClient.create("redis://" + s.host + ":" + s.port);
        boolean safe = s.own[0].equals("safe");
        Shed.run(s, provider(client.connect(), safe), provider(client.connect(), safe));
        System.exit(0);
    }

    private static LockProvider provider(StatefulRedisConnection<String, String> connection, boolean safe) {
        Calls calls = new Calls(connection.sync());
        return new InternalRedisLockProvider(calls, "bench", InternalRedisLockProvider.DEFAULT_KEY_PREFIX, safe)::lock;
    }

    /** What ShedLock asks of a client. */
    private record Calls(RedisCommands<String, String> redis) implements InternalRedisLockTemplate {
        public boolean setIfAbsent(String key, String value, long millis) {
            return redis.set(key, value, new SetArgs().nx().px(millis)) != null;
        }

        public boolean setIfPresent(String key, String value, long millis) {
            return redis.set(key, value, new SetArgs().xx().px(millis)) != null;
        }

        public Object eval(String script, String key, String... values) {
            return redis.eval(script, ScriptOutputType.INTEGER, new String[] {key}, values);
        }

        public void delete(String key) {
            redis.del(key);
        }
    }
}

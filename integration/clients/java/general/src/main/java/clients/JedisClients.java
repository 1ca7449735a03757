package clients;

import java.util.List;
import java.util.function.Function;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.params.SetParams;

/** Jedis: its RedisClient, which speaks RESP3, and its older JedisPool. */
final class JedisClients {
    static Client modern(String host, int port, int db) {
        RedisClient c = RedisClient.builder().hostAndPort(new HostAndPort(host, port))
                .clientConfig(DefaultJedisClientConfig.builder().database(db).password(Steps.PASSWORD).clientName("bench").build()).build();
        return new Client() {
            public boolean setNX(String key, String token, long ms) {
                return c.set(key, token, new SetParams().nx().px(ms)) != null;
            }

            public String get(String key) {
                return c.get(key);
            }

            public long pttl(String key) {
                return c.pttl(key);
            }

            public Object eval(String text, String key, String... args) {
                return c.eval(text, List.of(key), List.of(args));
            }

            public String load(String text) {
                return c.scriptLoad(text);
            }

            public Object evalsha(String sha, String key, String... args) {
                return c.evalsha(sha, List.of(key), List.of(args));
            }

            public Object watched(String key, Runnable meddle) {
                try (var t = c.transaction(false)) {
                    t.watch(key);
                    meddle.run();
                    t.multi();
                    t.pexpire(key, 20000);
                    return t.exec();
                }
            }

            public Object pipeline(String key, String token) {
                try (var p = c.pipelined()) {
                    p.set(key, token, new SetParams().nx().px(30000));
                    p.get(key);
                    p.del(key);
                    return p.syncAndReturnAll();
                }
            }

            public Client database(int n) {
                return modern(host, port, n);
            }

            public void close() {
                c.close();
            }
        };
    }

    static Client pool(String host, int port, int db) {
        JedisPoolConfig config = new JedisPoolConfig();
        config.setTestOnBorrow(true);
        JedisPool pool = new JedisPool(config, host, port, 2000, Steps.PASSWORD, db, "bench");
        return new Client() {
            private <T> T with(Function<Jedis, T> use) {
                try (Jedis j = pool.getResource()) {
                    return use.apply(j);
                }
            }

            public boolean setNX(String key, String token, long ms) {
                return with(j -> j.set(key, token, new SetParams().nx().px(ms))) != null;
            }

            public String get(String key) {
                return with(j -> j.get(key));
            }

            public long pttl(String key) {
                return with(j -> j.pttl(key));
            }

            public Object eval(String text, String key, String... args) {
                return with(j -> j.eval(text, List.of(key), List.of(args)));
            }

            public String load(String text) {
                return with(j -> j.scriptLoad(text));
            }

            public Object evalsha(String sha, String key, String... args) {
                return with(j -> j.evalsha(sha, List.of(key), List.of(args)));
            }

            public Object watched(String key, Runnable meddle) {
                return with(j -> {
                    j.watch(key);
                    j.get(key);
                    meddle.run();
                    var t = j.multi();
                    t.pexpire(key, 20000);
                    return t.exec();
                });
            }

            public Object pipeline(String key, String token) {
                return with(j -> {
                    var p = j.pipelined();
                    p.set(key, token, new SetParams().nx().px(30000));
                    p.get(key);
                    p.del(key);
                    return p.syncAndReturnAll();
                });
            }

            public Client database(int n) {
                return pool(host, port, n);
            }

            public void close() {
                pool.close();
            }
        };
    }

    private JedisClients() { }
}

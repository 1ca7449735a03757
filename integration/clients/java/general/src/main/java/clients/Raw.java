package clients;

/** The steps of a lock by a general client: jedis, pool or lettuce. */
public final class Raw {
    private static final String RELEASE =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
    private static final String EXTEND =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";

    public static void main(String[] args) throws Exception {
        Steps s = new Steps(args);
        Client c;
        switch (s.own[0]) {
            case "jedis" -> {
                s.version(redis.clients.jedis.Jedis.class);
                c = JedisClients.modern(s.host, s.port, 0);
            }
            case "pool" -> {
                s.version(redis.clients.jedis.Jedis.class);
                c = JedisClients.pool(s.host, s.port, 0);
            }
            default -> {
                s.version(io.lettuce.core.RedisClient.class);
                c = new LettuceClient(s.host, s.port, 0);
            }
        }
        run(s, c);
        c.close();
        System.exit(0);
    }

    private static void run(Steps s, Client c) {
        String key = s.prefix + "raw";
        s.step("take", () -> c.setNX(key, "one", 30000));
        s.step("refuse", () -> c.setNX(key, "two", 30000));
        s.step("query", () -> c.get(key));
        s.step("ttl", () -> c.pttl(key) > 25000 && c.pttl(key) <= 30000);
        s.step("extend", () -> c.eval(EXTEND, key, "one", "60000"));
        s.step("extended", () -> c.pttl(key) > 55000 && c.pttl(key) <= 60000);
        s.step("extend wrong", () -> c.eval(EXTEND, key, "two", "60000"));
        s.step("extend missing", () -> c.eval(EXTEND, key + "none", "one", "60000"));
        s.step("release wrong", () -> c.eval(RELEASE, key, "two"));
        s.step("release", () -> c.eval(RELEASE, key, "one"));
        s.step("release missing", () -> c.eval(RELEASE, key, "one"));
        s.step("query missing", () -> c.get(key));
        s.refused("unknown hash", () -> c.evalsha("0123456789012345678901234567890123456789", key, "one"));
        s.step("load", () -> c.load(RELEASE + " "));
        c.setNX(key, "one", 30000);
        s.step("by hash", () -> c.evalsha(c.load(RELEASE + " "), key, "one"));
        s.step("by hash, missing", () -> c.evalsha(c.load(RELEASE + " "), key, "one"));
        c.setNX(key, "one", 30000);
        s.step("transaction", () -> c.watched(key, () -> { }));
        Client other = c.database(1), meddler = c.database(0);
        s.step("transaction, changed", () -> c.watched(key, () -> {
            meddler.eval(RELEASE, key, "one");
            meddler.setNX(key, "two", 30000);
        }));
        s.step("still held", () -> c.get(key));
        s.step("database, query", () -> other.get(key));
        s.step("database, take", () -> other.setNX(key, "one", 30000));
        s.step("database, release", () -> other.eval(RELEASE, key, "one"));
        s.step("database, still held", () -> c.get(key));
        c.eval(RELEASE, key, "two");
        s.step("pipeline", () -> c.pipeline(key, "one"));
        inTime(s, c, key);
        other.close();
        meddler.close();
    }

    private static void inTime(Steps s, Client c, String key) {
        c.setNX(key, "short", 200);
        s.step("expire, before", () -> c.setNX(key, "two", 30000));
        s.step("expire", () -> Steps.poll(10000, () -> c.setNX(key, "two", 30000)));
        s.step("wait", () -> Steps.waitFor(() -> c.eval(RELEASE, key, "two"),
                () -> Steps.poll(10000, () -> c.setNX(key, "three", 30000))));
        c.eval(RELEASE, key, "three");
        s.step("many, unique tokens", () -> Steps.contest(6, 5, w -> enter(c, key, "worker " + w)));
        s.step("many, equal tokens", () -> Steps.contest(6, 5, w -> enter(c, key, "the same")));
    }

    private static Steps.Release enter(Client c, String key, String token) throws Exception {
        Steps.poll(20000, () -> c.setNX(key, token, 30000));
        return () -> c.eval(RELEASE, key, token);
    }
}

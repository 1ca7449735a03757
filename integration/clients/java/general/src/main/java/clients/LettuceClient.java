package clients;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;

/** Lettuce, as it comes: RESP3, one connection for all threads. */
final class LettuceClient implements Client {
    private final String host;
    private final int port;
    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RedisCommands<String, String> c;

    LettuceClient(String host, int port, int db) {
        this.host = host;
        this.port = port;
        RedisURI.Builder to = RedisURI.builder().withHost(host).withPort(port).withDatabase(db);
        if (Steps.PASSWORD != null) {
            to.withPassword(Steps.PASSWORD.toCharArray());
        }
        client = RedisClient.create(to.build());
        connection = client.connect();
        c = connection.sync();
    }

    public boolean setNX(String key, String token, long ms) {
        return "OK".equals(c.set(key, token, SetArgs.Builder.nx().px(ms)));
    }

    public String get(String key) {
        return c.get(key);
    }

    public long pttl(String key) {
        return c.pttl(key);
    }

    public Object eval(String text, String key, String... args) {
        return c.eval(text, ScriptOutputType.INTEGER, new String[] {key}, args);
    }

    public String load(String text) {
        return c.scriptLoad(text);
    }

    public Object evalsha(String sha, String key, String... args) {
        return c.evalsha(sha, ScriptOutputType.INTEGER, new String[] {key}, args);
    }

    public Object watched(String key, Runnable meddle) {
        c.watch(key);
        c.get(key);
        meddle.run();
        c.multi();
        c.pexpire(key, 20000);
        var done = c.exec();
        return done.wasDiscarded() ? null : done.stream().toList();
    }

    public Object pipeline(String key, String token) {
        var async = connection.async();
        var all = List.of(async.set(key, token, SetArgs.Builder.nx().px(30000)), async.get(key), async.del(key));
        return all.stream().map(f -> (Object) f.toCompletableFuture().join()).toList();
    }

    public Client database(int n) {
        return new LettuceClient(host, port, n);
    }

    public void close() {
        connection.close();
        client.shutdown();
    }
}

package clients;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.params.SetParams;

/**
 * Jedis and Lettuce behind one address for several redlockd (integration/front): they take and
 * release a lock that others want, too, and extend one that nobody else may get, until their input
 * ends.
 */
final class Front {
    private static final String RELEASE =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
    private static final String EXTEND =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";

    interface Locks {
        String setNX(String key, String token, long ms);

        Object script(String text, String key, String... args);
    }

    static Locks jedis(String host, int port) {
        var c = redis.clients.jedis.RedisClient.builder().hostAndPort(new HostAndPort(host, port))
                .clientConfig(DefaultJedisClientConfig.builder().connectionTimeoutMillis(1000).socketTimeoutMillis(1000).build())
                .build();
        return new Locks() {
            public String setNX(String key, String token, long ms) {
                return c.set(key, token, new SetParams().nx().px(ms));
            }

            public Object script(String text, String key, String... args) {
                return c.eval(text, List.of(key), List.of(args));
            }
        };
    }

    static Locks lettuce(String host, int port) {
        Duration second = Duration.ofSeconds(1);
        var client = io.lettuce.core.RedisClient.create(RedisURI.builder().withHost(host).withPort(port).withTimeout(second).build());
        client.setOptions(ClientOptions.builder().timeoutOptions(TimeoutOptions.enabled(second))
                .socketOptions(SocketOptions.builder().connectTimeout(second).build()).build());
        var c = client.connect().sync();
        return new Locks() {
            public String setNX(String key, String token, long ms) {
                return c.set(key, token, SetArgs.Builder.nx().px(ms));
            }

            public Object script(String text, String key, String... args) {
                return c.eval(text, ScriptOutputType.INTEGER, new String[] {key}, args);
            }
        };
    }

    /** Tells what was called, when it was sent and answered, and the answer: 1, 0 or an error. */
    private static boolean call(String kind, Callable<Object> does) {
        double sent = now();
        String answer;
        try {
            Object said = does.call();
            answer = "OK".equals(said) || Long.valueOf(1).equals(said) ? "1" : "0";
        } catch (Exception e) { // any: each client has its own
            answer = e.getClass().getSimpleName() + ": " + String.valueOf(e.getMessage()).replaceAll("\\s+", " ");
        }
        System.out.printf(Locale.ROOT, "%s %.3f %.3f %s%n", kind, sent, now(), answer);
        return answer.equals("1");
    }

    private static double now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()) / 1000.0;
    }

    private static void untilInputEnds(AtomicBoolean over) {
        try {
            System.in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) { // it has ended, too
        }
        over.set(true);
    }

    public static void main(String[] args) throws Exception {
        String host = args[1], held = args[3] + "held", wanted = args[3] + "wanted", mine = UUID.randomUUID().toString();
        int port = Integer.parseInt(args[2]);
        Locks c = args[0].equals("jedis") ? jedis(host, port) : lettuce(host, port);
        AtomicBoolean over = new AtomicBoolean();
        Thread input = new Thread(() -> untilInputEnds(over));
        input.setDaemon(true);
        input.start();
        call("hold", () -> c.setNX(held, mine, 20000));
        while (!over.get()) {
            String token = UUID.randomUUID().toString();
            if (call("take", () -> c.setNX(wanted, token, 2000))) {
                call("release", () -> c.script(RELEASE, wanted, token));
            }
            call("extend", () -> c.script(EXTEND, held, mine, "20000"));
            Thread.sleep(20);
        }
        System.exit(0);
    }

    private Front() { }
}

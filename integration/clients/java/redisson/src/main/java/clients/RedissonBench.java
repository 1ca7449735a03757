package clients;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Cycles of lock and unlock by one thread: RedissonBench plain|rlock|redlock HOST:PORT[,HOST:PORT...] SECONDS. When it is
 * warm it says so and waits for a line, so that the processor time of the servers can be read; then it prints the cycles
 * and the median in microseconds.
 */
public final class RedissonBench {
    private static final String RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

    public static void main(String[] args) throws Exception {
        List<RedissonClient> clients = new ArrayList<>();
        for (String address : args[1].split(",")) {
            Config config = new Config();
            config.useSingleServer().setAddress("redis://" + address).setConnectionMinimumIdleSize(1).setConnectionPoolSize(2);
            clients.add(Redisson.create(config));
        }
        Runnable cycle = args[0].equals("plain") ? plain(clients.get(0)) : locks(args[0].equals("rlock")
                ? clients.get(0).getLock("bench:rlock")
                : new RedissonRedLock(clients.stream().map(c -> c.getLock("bench:redlock")).toArray(RLock[]::new)));
        for (int i = 0; i < 300; i++) {
            cycle.run();
        }
        System.out.println("warm");
        System.in.read();
        List<Long> times = new ArrayList<>();
        for (long end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000_000L; System.nanoTime() < end;) {
            long begin = System.nanoTime();
            cycle.run();
            times.add(System.nanoTime() - begin);
        }
        Collections.sort(times);
        System.out.println(times.size() + " " + times.get(times.size() / 2) / 1000);
        System.exit(0);
    }

    private static Runnable locks(RLock lock) {
        return () -> {
            try {
                if (!lock.tryLock(2, 30, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("refused");
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            lock.unlock();
        };
    }

    /** A plain token, set and compared as most libraries do. */
    private static Runnable plain(RedissonClient client) {
        RBucket<String> bucket = client.getBucket("bench:plain", StringCodec.INSTANCE);
        RScript script = client.getScript(StringCodec.INSTANCE);
        String sha = script.scriptLoad(RELEASE);
        int[] n = {0};
        return () -> {
            String token = "token-0123456789abcdef-" + n[0]++;
            if (!bucket.setIfAbsent(token, Duration.ofSeconds(30))) {
                throw new IllegalStateException("refused");
            }
            script.evalSha(RScript.Mode.READ_WRITE, sha, RScript.ReturnType.BOOLEAN, List.of("bench:plain"), token);
        };
    }
}

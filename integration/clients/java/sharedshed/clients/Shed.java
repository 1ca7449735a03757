package clients;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/** The steps of ShedLock, over any of its providers. */
final class Shed {
    static void run(Steps s, LockProvider provider, LockProvider other) {
        String name = s.prefix + "shed";
        var held = new Object() { SimpleLock lock; };
        s.step("take", () -> { held.lock = take(provider, name, 30000, 0); return held.lock != null; });
        s.step("refuse", () -> take(other, name, 30000, 0) != null);
        s.step("extend", () -> {
            Optional<SimpleLock> longer = held.lock.extend(Duration.ofSeconds(60), Duration.ZERO);
            held.lock = longer.orElseThrow();
            return "done";
        });
        s.step("still refused", () -> take(other, name, 30000, 0) != null);
        s.step("release", () -> { held.lock.unlock(); return "done"; });
        s.refused("release twice", () -> { held.lock.unlock(); return "done"; });
        s.step("take again", () -> { held.lock = take(provider, name, 30000, 700); return held.lock != null; });
        s.step("release, kept at least", () -> { held.lock.unlock(); return take(other, name, 30000, 0) != null; });
        s.step("free after that", () -> Steps.poll(10000, () -> (held.lock = take(other, name, 300, 0)) != null));
        s.step("expire, before", () -> take(provider, name, 30000, 0) != null);
        var next = new Object() { SimpleLock lock; };
        s.step("expire", () -> Steps.poll(10000, () -> (next.lock = take(provider, name, 30000, 0)) != null));
        s.step("extend missing", () -> {
            SimpleLock gone = take(provider, name + "gone", 100, 0);
            Steps.poll(10000, () -> take(other, name + "gone", 30000, 0) != null);
            return gone.extend(Duration.ofSeconds(60), Duration.ZERO).isPresent();
        });
        s.step("wait", () -> Steps.waitFor(() -> next.lock.unlock(),
                () -> Steps.poll(10000, () -> (held.lock = take(other, name, 30000, 0)) != null)));
        s.step("release after waiting", () -> { held.lock.unlock(); return "done"; });
        s.step("many, unique tokens", () -> Steps.contest(6, 5, w -> {
            var mine = new Object() { SimpleLock lock; };
            Steps.poll(20000, () -> (mine.lock = take(provider, name, 30000, 0)) != null);
            return () -> mine.lock.unlock();
        }));
    }

    private static SimpleLock take(LockProvider provider, String name, long mostMs, long leastMs) {
        return provider.lock(new LockConfiguration(Instant.now(), name, Duration.ofMillis(mostMs), Duration.ofMillis(leastMs)))
                .orElse(null);
    }

    private Shed() { }
}

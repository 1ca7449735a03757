package clients;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** What the Java programs share: how a step is told, and contests. */
final class Steps {
    final String[] own;
    final String host;
    final int port;
    final String prefix;

    /** Another redlockd over the same masters. */
    final String elsewhere;

    /** What the server asks for, or null. */
    static final String PASSWORD = System.getenv("BENCH_PASSWORD");

    Steps(String[] args) {
        int n = args.length;
        own = java.util.Arrays.copyOf(args, n - 3);
        host = args[n - 3];
        port = Integer.parseInt(args[n - 2]);
        prefix = args[n - 1];
        String there = System.getenv("BENCH_ELSEWHERE");
        elsewhere = there == null ? host + ":" + port : there;
    }

    /** A lock that was taken. */
    interface Release {
        void release() throws Exception;
    }

    /** Waits until it has the lock. */
    interface Take {
        Release take(int worker) throws Exception;
    }

    synchronized void tell(String step, Object result) {
        System.out.println("{" + json(step) + ":" + json(result) + "}");
    }

    /** Tells the version in the name of the file a class is from. */
    void version(Class<?>... classes) {
        List<String> versions = new ArrayList<>();
        for (Class<?> c : classes) {
            String file = c.getProtectionDomain().getCodeSource().getLocation().getPath();
            versions.add(file.replaceAll(".*-(\\d[^/]*)\\.jar$", "$1").replace(".RELEASE", ""));
        }
        tell("version", String.join(" ", versions));
    }

    void step(String name, Callable<?> call) {
        try {
            tell(name, call.call());
        } catch (Exception e) {
            tell(name, "FAILED " + text(e));
        }
    }

    /** Tells the error that the call should end with. */
    void refused(String name, Callable<?> call) {
        try {
            tell(name, "FAILED: no error, but " + call.call());
        } catch (Exception e) {
            tell(name, text(e));
        }
    }

    static String text(Throwable e) {
        String text = e.getClass().getSimpleName() + ": " + e.getMessage();
        return e.getCause() == null ? text : text + " <- " + text(e.getCause());
    }

    /** Calls until it is true. The masters keep a lock a little longer. */
    static boolean poll(long ms, Callable<Boolean> call) throws Exception {
        for (long end = System.nanoTime() + ms * 1_000_000; !call.call(); Thread.sleep(5)) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("still refused after " + ms + " ms");
            }
        }
        return true;
    }

    /** Whether take, which waits, ends after the release 300 ms later. */
    static boolean waitFor(Release release, Callable<?> take) throws Exception {
        List<Exception> problems = new CopyOnWriteArrayList<>();
        long start = System.nanoTime();
        Thread later = new Thread(() -> {
            try {
                Thread.sleep(300);
                release.release();
            } catch (Exception e) {
                problems.add(e);
            }
        });
        later.start();
        take.call();
        long waited = (System.nanoTime() - start) / 1_000_000;
        later.join();
        if (!problems.isEmpty()) {
            throw problems.get(0);
        }
        return waited >= 290;
    }

    /** Lets workers want one lock at once. */
    static Map<String, Integer> contest(int workers, int rounds, Take take) throws Exception {
        AtomicInteger inside = new AtomicInteger(), most = new AtomicInteger(), done = new AtomicInteger();
        List<Exception> problems = new CopyOnWriteArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int w = 0; w < workers; w++) {
            int worker = w;
            Thread t = new Thread(() -> {
                try {
                    for (int i = 0; i < rounds; i++) {
                        Release release = take.take(worker);
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        Thread.sleep(1);
                        inside.decrementAndGet();
                        done.incrementAndGet();
                        release.release();
                    }
                } catch (Exception e) {
                    problems.add(e);
                }
            });
            threads.add(t);
            t.start();
        }
        for (Thread t : threads) {
            t.join();
        }
        if (!problems.isEmpty()) {
            throw problems.get(0);
        }
        return Map.of("rounds", done.get(), "at once", most.get());
    }

    private static String json(Object v) {
        if (v == null || v instanceof Boolean || v instanceof Number) {
            return String.valueOf(v);
        }
        if (v instanceof byte[] bytes) {
            return json(new String(bytes));
        }
        if (v instanceof Map<?, ?> map) {
            List<String> parts = new ArrayList<>();
            map.forEach((k, value) -> parts.add(json(k) + ":" + json(value)));
            return "{" + String.join(",", parts) + "}";
        }
        if (v instanceof Collection<?> all) {
            List<String> parts = new ArrayList<>();
            all.forEach(one -> parts.add(json(one)));
            return "[" + String.join(",", parts) + "]";
        }
        if (v.getClass().isArray()) {
            List<String> parts = new ArrayList<>();
            for (int i = 0; i < Array.getLength(v); i++) {
                parts.add(json(Array.get(v, i)));
            }
            return "[" + String.join(",", parts) + "]";
        }
        StringBuilder b = new StringBuilder("\"");
        for (char c : v.toString().toCharArray()) {
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < ' ') {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        return b.append('"').toString();
    }
}

package clients;

/** A general client with what lock code uses of it. */
interface Client extends AutoCloseable {
    boolean setNX(String key, String token, long ms);

    String get(String key);

    long pttl(String key);

    Object eval(String text, String key, String... args);

    String load(String text);

    Object evalsha(String sha, String key, String... args);

    /** WATCH, GET, meddle, MULTI, PEXPIRE, EXEC; null when the key had changed. */
    Object watched(String key, Runnable meddle);

    /** SET NX PX, GET and DEL in one write. */
    Object pipeline(String key, String token);

    Client database(int n);

    @Override
    void close();
}

package clients;

import org.redisson.api.RedissonClient;
import org.redisson.spring.starter.RedissonProperties;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;

/** Redisson's client as Spring Boot's starter makes it from spring.data.redis. */
@EnableAutoConfiguration
public class RedissonBoot {
    public static void main(String[] args) {
        Steps s = new Steps(args);
        s.version(RedissonProperties.class);
        RedissonClient one = client(s), two = client(s);
        String key = s.prefix + "boot";
        RedissonLock.steps(s, one, two, c -> c.getLock(key));
        System.exit(0);
    }

    private static RedissonClient client(Steps s) {
        return new SpringApplicationBuilder(RedissonBoot.class).web(WebApplicationType.NONE)
                .properties("spring.data.redis.host=" + s.host, "spring.data.redis.port=" + s.port, "logging.level.root=OFF",
                        "spring.main.banner-mode=off")
                .run().getBean(RedissonClient.class);
    }
}

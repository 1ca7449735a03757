// Command redislock10 locks by bsm/redislock 0.10, which takes several keys at
// once. It is a module of its own, since one has one version.
package main

import (
	"context"
	"time"

	"clients/redislocksteps"
	"clients/steps"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

func main() {
	_, addr, prefix := steps.Args()
	steps.Version("github.com/bsm/redislock", "github.com/redis/go-redis/v9")
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	defer rdb.Close()
	c := redislock.New(rdb)
	redislocksteps.Run(c, prefix+"redislock10")
	several(c, rdb, []string{prefix + "a", prefix + "b", prefix + "c"})
}

// several takes all keys or none.
func several(c *redislock.Client, rdb *redis.Client, keys []string) {
	held := func() any { n, err := rdb.Exists(ctx, keys...).Result(); return steps.Result(n, err) }
	mine, err := c.ObtainMulti(ctx, keys, 30*time.Second, nil)
	steps.Tell("several, take", steps.Result(err == nil, err))
	if err != nil {
		return
	}
	_, err = c.ObtainMulti(ctx, keys[1:], 30*time.Second, nil)
	steps.Tell("several, refuse", steps.Refusal(err))
	_, err = c.Obtain(ctx, keys[2], 30*time.Second, nil)
	steps.Tell("several, refuse one", steps.Refusal(err))
	ttl, err := mine.TTL(ctx)
	steps.Tell("several, query", steps.Result(ttl > 25*time.Second && ttl <= 30*time.Second, err))
	steps.Tell("several, extend", steps.Result(true, mine.Refresh(ctx, time.Minute, nil)))
	ttl, err = mine.TTL(ctx)
	steps.Tell("several, extended", steps.Result(ttl > 55*time.Second && ttl <= time.Minute, err))
	again := &redislock.Options{Token: mine.Token(), Metadata: "more"}
	more, err := c.ObtainMulti(ctx, keys, 40*time.Second, again)
	steps.Tell("several, take once more", steps.Result(err == nil, err))
	steps.Tell("several, the old value", steps.Refusal(mine.Release(ctx)))
	steps.Tell("several, held", held())
	if err == nil {
		steps.Tell("several, release", steps.Result(true, more.Release(ctx)))
	}
	steps.Tell("several, free", held())
	steps.Tell("several, release missing", steps.Refusal(mine.Release(ctx)))

	one, err := c.Obtain(ctx, keys[1], 30*time.Second, nil)
	steps.Tell("several, one of another", steps.Result(err == nil, err))
	_, err = c.ObtainMulti(ctx, keys, 30*time.Second, nil)
	steps.Tell("several, all or nothing", steps.Refusal(err))
	steps.Tell("several, only that one", held())
	if one != nil {
		steps.Tell("several, release one", steps.Result(true, one.Release(ctx)))
	}
	retry := &redislock.Options{RetryStrategy: redislock.LinearBackoff(10 * time.Millisecond)}
	steps.Tell("several, many", steps.Contest(6, 8, func(worker int) (func() error, error) {
		order := append(append([]string{}, keys[worker%3:]...), keys[:worker%3]...)
		l, err := c.ObtainMulti(ctx, order[:2], 30*time.Second, retry)
		return func() error { return l.Release(ctx) }, err
	}))
}

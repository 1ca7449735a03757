// Command goredis takes the steps of a lock with go-redis: RESP3, or with the
// argument 2 RESP2.
package main

import (
	"context"
	"errors"
	"time"

	"clients/steps"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

type client struct {
	*redis.Client
	opts redis.Options
}

func main() {
	own, addr, prefix := steps.Args()
	opts := redis.Options{Addr: addr, Password: steps.Password(), ClientName: "bench"}
	if len(own) > 0 {
		opts.Protocol = 2
	}
	steps.Version("github.com/redis/go-redis/v9")
	c := client{redis.NewClient(&opts), opts}
	defer c.Close()
	steps.Raw(c, prefix)
}

func (c client) SetNX(key, token string, ttl time.Duration) (bool, error) {
	return c.Client.SetNX(ctx, key, token, ttl).Result()
}

func (c client) Get(key string) (any, error) { return none(c.Client.Get(ctx, key).Result()) }

func none(s string, err error) (any, error) {
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return s, err
}

func (c client) TTL(key string) (time.Duration, error) { return c.PTTL(ctx, key).Result() }

func (c client) Script(text string) steps.Script {
	s := redis.NewScript(text)
	return func(key string, args ...any) (any, error) {
		return s.Run(ctx, c.Client, []string{key}, args...).Result()
	}
}

func (c client) ScriptLoad(text string) (string, error) {
	return c.Client.ScriptLoad(ctx, text).Result()
}

func (c client) EvalSha(sha, key string, args ...any) (any, error) {
	return c.Client.EvalSha(ctx, sha, []string{key}, args...).Result()
}

func (c client) Watched(key string, meddle func()) (reply any, err error) {
	err = c.Watch(ctx, func(tx *redis.Tx) error {
		if err := tx.Get(ctx, key).Err(); err != nil {
			return err
		}
		meddle()
		done, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.PExpire(ctx, key, 20*time.Second)
			return nil
		})
		if err == nil {
			reply = done[0].(*redis.BoolCmd).Val()
		}
		return err
	}, key)
	if errors.Is(err, redis.TxFailedErr) {
		return nil, nil
	}
	return reply, err
}

func (c client) Pipeline(key, token string) (any, error) {
	var a *redis.BoolCmd
	var b *redis.StringCmd
	var d *redis.IntCmd
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		a, b, d = p.SetNX(ctx, key, token, time.Minute), p.Get(ctx, key), p.Del(ctx, key)
		return nil
	})
	return []any{a.Val(), b.Val(), d.Val()}, err
}

func (c client) Database(n int) (steps.Client, error) {
	opts := c.opts
	opts.DB = n
	return client{redis.NewClient(&opts), opts}, nil
}

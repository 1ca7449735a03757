// Package redislocksteps is what the programs of bsm/redislock's versions
// share.
package redislocksteps

import (
	"context"
	"time"

	"clients/steps"

	"github.com/bsm/redislock"
)

var ctx = context.Background()

// Run takes and gives back one lock in all ways.
func Run(c *redislock.Client, key string) {
	run(c, key)
	metadata(c, key)
	inTime(c, key)
}

func run(c *redislock.Client, key string) {
	mine, err := c.Obtain(ctx, key, 30*time.Second, nil)
	steps.Tell("take", steps.Result(err == nil, err))
	if err != nil {
		return
	}
	_, err = c.Obtain(ctx, key, 30*time.Second, nil)
	steps.Tell("refuse", steps.Refusal(err))
	ttl, err := mine.TTL(ctx)
	steps.Tell("query", steps.Result(ttl > 25*time.Second && ttl <= 30*time.Second, err))
	steps.Tell("extend", steps.Result(true, mine.Refresh(ctx, time.Minute, nil)))
	ttl, err = mine.TTL(ctx)
	steps.Tell("extended", steps.Result(ttl > 55*time.Second && ttl <= time.Minute, err))
	steps.Tell("release", steps.Result(true, mine.Release(ctx)))
	steps.Tell("release missing", steps.Refusal(mine.Release(ctx)))
	steps.Tell("extend missing", steps.Refusal(mine.Refresh(ctx, time.Minute, nil)))
	ttl, err = mine.TTL(ctx)
	steps.Tell("query missing", steps.Result(ttl.String(), err))

	other, err := c.Obtain(ctx, key, 30*time.Second, nil)
	steps.Tell("take again", steps.Result(err == nil, err))
	steps.Tell("release wrong", steps.Refusal(mine.Release(ctx)))
	steps.Tell("extend wrong", steps.Refusal(mine.Refresh(ctx, time.Minute, nil)))
	ttl, err = mine.TTL(ctx)
	steps.Tell("query wrong", steps.Result(ttl.String(), err))
	steps.Tell("release again", steps.Result(true, other.Release(ctx)))
}

// metadata shows that a token is a prefix of the value: its holder may take
// the lock again, with other metadata.
func metadata(c *redislock.Client, key string) {
	opt := func(token, text string) *redislock.Options { return &redislock.Options{Token: token, Metadata: text} }
	first, err := c.Obtain(ctx, key, 30*time.Second, opt("token-a", "one"))
	steps.Tell("token, take", steps.Result(err == nil, err))
	_, err = c.Obtain(ctx, key, 30*time.Second, opt("token-b", "one"))
	steps.Tell("token, refuse", steps.Refusal(err))
	second, err := c.Obtain(ctx, key, 60*time.Second, opt("token-a", "two"))
	steps.Tell("token, take once more", steps.Result(err == nil, err))
	if err != nil || first == nil {
		return
	}
	steps.Tell("token, the old value", steps.Refusal(first.Refresh(ctx, time.Minute, nil)))
	ttl, err := second.TTL(ctx)
	steps.Tell("token, ttl", steps.Result(ttl > 55*time.Second && ttl <= time.Minute, err))
	steps.Tell("token, release", steps.Result(true, second.Release(ctx)))
}

func inTime(c *redislock.Client, key string) {
	retry := &redislock.Options{RetryStrategy: redislock.LinearBackoff(10 * time.Millisecond)}
	_, err := c.Obtain(ctx, key, 200*time.Millisecond, nil)
	steps.Tell("take briefly", steps.Result(err == nil, err))
	_, err = c.Obtain(ctx, key, 30*time.Second, nil)
	steps.Tell("expire, before", steps.Refusal(err))
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	next, err := c.Obtain(within, key, 30*time.Second, retry)
	steps.Tell("expire", steps.Result(err == nil, err))
	if err != nil {
		return
	}
	var after *redislock.Lock
	steps.Tell("wait", steps.WaitFor(
		func() error { return next.Release(ctx) },
		func() (err error) { after, err = c.Obtain(ctx, key, 30*time.Second, retry); return err }))
	if after != nil {
		_ = after.Release(ctx)
	}
	steps.Tell("many, unique tokens", steps.Contest(8, 10, func(int) (func() error, error) {
		l, err := c.Obtain(ctx, key, 30*time.Second, retry)
		return func() error { return l.Release(ctx) }, err
	}))
}

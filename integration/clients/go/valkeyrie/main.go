// Command valkeyrie locks by kvtools/valkeyrie over Redis, whose locks are JSON objects.
package main

import (
	"context"
	"fmt"
	"time"

	"clients/steps"

	"github.com/kvtools/redis"
	"github.com/kvtools/valkeyrie/store"
	goredis "github.com/redis/go-redis/v9"
)

var ctx = context.Background()

func main() {
	_, addr, prefix := steps.Args()
	steps.Version("github.com/kvtools/redis", "github.com/kvtools/valkeyrie", "github.com/redis/go-redis/v9")
	b := bench{connect(addr), prefix, goredis.NewClient(&goredis.Options{Addr: addr})}
	b.lock()
	b.pairs()
	steps.Tell("contest", b.contest(addr))
}

type bench struct {
	*redis.Store
	prefix string
	raw    *goredis.Client
}

func connect(addr string) *redis.Store {
	s, err := redis.NewWithCodec(ctx, []string{addr}, nil, redis.JSONCodec{})
	if err != nil {
		panic(err)
	}
	return s
}

// lock holds a lock beyond its TTL, which the library prolongs.
func (b bench) lock() {
	key := b.prefix + "lock"
	mine, err := b.NewLock(ctx, key, &store.LockOptions{Value: []byte("mine"), TTL: 2 * time.Second})
	steps.Tell("new lock", steps.Result(true, err))
	lost, err := mine.Lock(ctx)
	steps.Tell("take", steps.Result(true, err))
	time.Sleep(3 * time.Second) // more than the TTL
	select {
	case <-lost:
		steps.Tell("held beyond its TTL", false)
	default:
		steps.Tell("held beyond its TTL", true)
	}
	pair, err := b.Get(ctx, key, nil)
	steps.Tell("its value", steps.Result(pair != nil && string(pair.Value) == "mine", err))
	steps.Tell("release", steps.Result(true, mine.Unlock(ctx)))
	found, err := b.Exists(ctx, key, nil)
	steps.Tell("exists after that", steps.Result(found, err))
}

// pairs calls what a lock consists of, in each state.
func (b bench) pairs() {
	key := b.prefix + "pair"
	put := func(previous *store.KVPair) (bool, *store.KVPair, error) {
		return b.AtomicPut(ctx, key, []byte("mine"), previous, &store.WriteOptions{TTL: 30 * time.Second})
	}
	_, first, err := put(nil)
	steps.Tell("create", steps.Result(first != nil, err))
	_, _, err = put(nil)
	steps.Tell("create once more", steps.Refusal(err))
	_, second, err := b.AtomicPut(ctx, key, []byte("mine"), first, &store.WriteOptions{TTL: time.Minute})
	steps.Tell("swap", steps.Result(second != nil, err))
	steps.Tell("left", steps.Result(b.left(key)))
	_, _, err = put(first)
	steps.Tell("swap an earlier one", steps.Refusal(err))
	_, err = b.AtomicDelete(ctx, key, first)
	steps.Tell("delete an earlier one", steps.Refusal(err))
	_, err = b.AtomicDelete(ctx, key, second)
	steps.Tell("delete", steps.Result(true, err))
	_, err = b.AtomicDelete(ctx, key, second)
	steps.Tell("delete what is gone", steps.Refusal(err))
	_, _, err = put(second)
	steps.Tell("swap what is gone", steps.Refusal(err))
}

// left tells the time left, to ten seconds.
func (b bench) left(key string) (string, error) {
	ttl, err := b.raw.PTTL(ctx, key).Result()
	return (ttl + 5*time.Second).Truncate(10 * time.Second).String(), err
}

// contest lets stores want one lock. A Lock that waits would listen to keyspace events, so
// each tries again by itself.
func (b bench) contest(addr string) any {
	stores := make([]*redis.Store, 4)
	for i := range stores {
		stores[i] = connect(addr)
	}
	key := b.prefix + "contest"
	return steps.Contest(len(stores), 5, func(worker int) (func() error, error) {
		var pair *store.KVPair
		err := steps.Poll(20*time.Second, func() (bool, error) {
			ok, created, err := stores[worker].AtomicPut(ctx, key, fmt.Append(nil, worker), nil, &store.WriteOptions{TTL: 30 * time.Second})
			if pair = created; err == store.ErrKeyExists {
				err = nil
			}
			return ok, err
		})
		return func() error {
			_, err := stores[worker].AtomicDelete(ctx, key, pair)
			return err
		}, err
	})
}

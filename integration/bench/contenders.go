package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// ttl is what every contender asks for; it is redsync's default.
const ttl = 8 * time.Second

// errHeld says that somebody else has the lock.
var errHeld = errors.New("held by another")

// client takes a lock and gives it back, with a token of its own for each
// time. It is used by one goroutine; it has one lock at a time.
type client interface {
	// take returns errHeld when somebody else has the lock.
	take(key string) error
	free(key string) error
}

// fleet is many clients of one kind.
type fleet struct {
	name    string
	clients []client
	close   func()
}

var ctx = context.Background()

func newToken() string {
	return strconv.FormatUint(rand.Uint64(), 36) + strconv.FormatUint(rand.Uint64(), 36)
}

const releaseText = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// pool is a go-redis client that tries once, and heeds its context.
func pool(addr string, clients int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, PoolSize: clients, MaxRetries: -1,
		ContextTimeoutEnabled: true, DialTimeout: time.Second})
}

// goRedis is n clients of one server, each with a connection of a pool, as
// programs with go-redis have it.
func goRedis(name, addr string, n int) fleet {
	c := pool(addr, n)
	f := fleet{name: name, close: func() { _ = c.Close() }}
	for range n {
		f.clients = append(f.clients, &overGoRedis{c: c})
	}
	return f
}

type overGoRedis struct {
	c     *redis.Client
	token string
}

var releaseScript = redis.NewScript(releaseText)

func (g *overGoRedis) take(key string) error {
	ok, err := g.takeFor(key, ttl)
	if err == nil && !ok {
		err = errHeld
	}
	return err
}

func (g *overGoRedis) takeFor(key string, ttl time.Duration) (bool, error) {
	g.token = newToken()
	return g.c.SetNX(ctx, key, g.token, ttl).Result()
}

func (g *overGoRedis) free(key string) error {
	n, err := releaseScript.Run(ctx, g.c, []string{key}, g.token).Int()
	return freed(n, err)
}

func freed(n int, err error) error {
	if err == nil && n != 1 {
		err = fmt.Errorf("the release was answered %d", n)
	}
	return err
}

// pipelining is n callers that share one connection, on which their commands
// gather, as with StackExchange.Redis.
func pipelining(name, addr string, n int) (fleet, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true,
		DisableCache: true, DisableRetry: true, PipelineMultiplex: -1})
	if err != nil {
		return fleet{}, err
	}
	script := rueidis.NewLuaScript(releaseText)
	f := fleet{name: name, close: c.Close}
	for range n {
		f.clients = append(f.clients, &overRueidis{c: c, script: script})
	}
	return f, nil
}

type overRueidis struct {
	c      rueidis.Client
	script *rueidis.Lua
	token  string
}

func (r *overRueidis) take(key string) error {
	r.token = newToken()
	err := r.c.Do(ctx, r.c.B().Set().Key(key).Value(r.token).Nx().PxMilliseconds(ttl.Milliseconds()).Build()).Error()
	if rueidis.IsRedisNil(err) {
		return errHeld
	}
	return err
}

func (r *overRueidis) free(key string) error {
	n, err := r.script.Exec(ctx, r.c, []string{key}, []string{r.token}).AsInt64()
	return freed(int(n), err)
}

// overRedsync is n clients of redsync over all the addresses, with a pool for
// each.
func overRedsync(name string, addrs []string, n int, options ...redsync.Option) fleet {
	pools := make([]redsyncredis.Pool, len(addrs))
	closers := make([]func() error, len(addrs))
	for i, addr := range addrs {
		c := pool(addr, n)
		pools[i], closers[i] = goredis.NewPool(c), c.Close
	}
	f := fleet{name: name, close: func() {
		for _, c := range closers {
			_ = c()
		}
	}}
	rs := redsync.New(pools...)
	for range n {
		f.clients = append(f.clients, &redsyncClient{rs: rs, options: options})
	}
	return f
}

type redsyncClient struct {
	rs      *redsync.Redsync
	options []redsync.Option
	mutex   *redsync.Mutex
}

// releaseWait bounds a release, as redsync itself bounds the taking of a lock
// of 8 s: without it a frozen master costs go-redis's own 3 s.
const releaseWait = 400 * time.Millisecond

func (r *redsyncClient) take(key string) error {
	r.mutex = r.rs.NewMutex(key, r.options...)
	err := r.mutex.TryLock()
	if taken := new(redsync.ErrTaken); errors.As(err, &taken) {
		return errHeld
	}
	if node := new(redsync.ErrNodeTaken); errors.As(err, &node) {
		return errHeld // a split: others have some of the masters
	}
	return err
}

func (r *redsyncClient) free(string) error {
	within, cancel := context.WithTimeout(ctx, releaseWait)
	defer cancel()
	ok, err := r.mutex.UnlockContext(within)
	if ok {
		return nil
	}
	return fmt.Errorf("redsync did not release: %w", err)
}

// overRedislock is n clients of bsm/redislock over one server.
func overRedislock(name, addr string, n int) fleet {
	c := pool(addr, n)
	locks := redislock.New(c)
	f := fleet{name: name, close: func() { _ = c.Close() }}
	for range n {
		f.clients = append(f.clients, &redislockClient{locks: locks})
	}
	return f
}

type redislockClient struct {
	locks *redislock.Client
	lock  *redislock.Lock
}

func (r *redislockClient) take(key string) (err error) {
	r.lock, err = r.locks.Obtain(ctx, key, ttl, nil)
	if errors.Is(err, redislock.ErrNotObtained) {
		return errHeld
	}
	return err
}

func (r *redislockClient) free(string) error { return r.lock.Release(ctx) }

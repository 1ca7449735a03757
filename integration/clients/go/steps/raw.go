package steps

import (
	"fmt"
	"time"
)

// Client is a general client with what lock code uses of it.
type Client interface {
	SetNX(key, token string, ttl time.Duration) (bool, error) // PX or EX, as the library does
	Get(key string) (any, error)                              // nil when absent
	TTL(key string) (time.Duration, error)
	Script(text string) Script
	ScriptLoad(text string) (string, error)
	EvalSha(sha, key string, args ...any) (any, error)
	// Watched reads the key, and in a transaction gives it a TTL. meddle runs
	// between. nil says that the key had changed.
	Watched(key string, meddle func()) (any, error)
	Pipeline(key, token string) (any, error) // SET NX PX, GET, DEL
	Database(n int) (Client, error)          // another connection
}

// Script is a script by the library's own means.
type Script func(key string, args ...any) (any, error)

const (
	releaseText = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`
	extendText  = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`
)

// Raw takes the steps of a lock by a general client.
func Raw(c Client, prefix string) {
	key := prefix + "raw"
	release, extend := c.Script(releaseText), c.Script(extendText)
	Tell("take", Result(c.SetNX(key, "one", 30*time.Second)))
	Tell("refuse", Result(c.SetNX(key, "two", 30*time.Second)))
	Tell("query", Result(c.Get(key)))
	ttl, err := c.TTL(key)
	Tell("ttl", Result(ttl > 25*time.Second && ttl <= 30*time.Second, err))
	Tell("extend", Result(extend(key, "one", 60000)))
	ttl, err = c.TTL(key)
	Tell("extended", Result(ttl > 55*time.Second && ttl <= 60*time.Second, err))
	Tell("extend wrong", Result(extend(key, "two", 60000)))
	Tell("extend missing", Result(extend(key+"none", "one", 60000)))
	Tell("release wrong", Result(release(key, "two")))
	Tell("release", Result(release(key, "one")))
	Tell("release missing", Result(release(key, "one")))
	Tell("query missing", Result(c.Get(key)))
	Tell("seconds and milliseconds", Result(c.SetNX(key, "one", 1500*time.Millisecond)))
	Tell("release again", Result(release(key, "one")))

	_, err = c.EvalSha("0123456789012345678901234567890123456789", key, "one")
	Tell("unknown hash", Refusal(err))
	hash, err := c.ScriptLoad(releaseText + " ")
	Tell("load", Result(hash, err))
	Tell("by hash, missing", Result(c.EvalSha(hash, key, "one")))
	Tell("take again", Result(c.SetNX(key, "one", 30*time.Second)))
	Tell("by hash", Result(c.EvalSha(hash, key, "one")))

	_, _ = c.SetNX(key, "one", 30*time.Second)
	Tell("transaction", Result(c.Watched(key, func() {})))
	Tell("transaction, changed", Result(c.Watched(key, func() {
		_, _ = release(key, "one")
		_, _ = c.SetNX(key, "two", 30*time.Second)
	})))
	Tell("still held", Result(c.Get(key)))
	other, err := c.Database(1)
	if err != nil {
		Tell("database", Result(nil, err))
	} else {
		Tell("database, query", Result(other.Get(key)))
		Tell("database, take", Result(other.SetNX(key, "one", 30*time.Second)))
		Tell("database, release", Result(other.Script(releaseText)(key, "one")))
	}
	Tell("database, still held", Result(c.Get(key)))
	_, _ = release(key, "two")
	Tell("pipeline", Result(c.Pipeline(key, "one")))
	rawTime(c, key, release)
}

func rawTime(c Client, key string, release Script) {
	_, _ = c.SetNX(key, "short", 200*time.Millisecond)
	Tell("expire, before", Result(c.SetNX(key, "two", 30*time.Second)))
	Tell("expire", Result(true, Poll(10*time.Second, func() (bool, error) {
		return c.SetNX(key, "two", 30*time.Second)
	})))
	Tell("wait", WaitFor(
		func() error { return one(release(key, "two")) },
		func() error {
			return Poll(10*time.Second, func() (bool, error) { return c.SetNX(key, "three", 30*time.Second) })
		}))
	_, _ = release(key, "three")
	contest := func(token func(worker int) string) any {
		return Contest(8, 10, func(w int) (func() error, error) {
			t := token(w)
			err := Poll(20*time.Second, func() (bool, error) { return c.SetNX(key, t, 30*time.Second) })
			return func() error { return one(release(key, t)) }, err
		})
	}
	Tell("many, unique tokens", contest(func(w int) string { return fmt.Sprint("worker ", w) }))
	Tell("many, equal tokens", contest(func(int) string { return "the same" }))
}

// one is an error unless a script answered 1.
func one(reply any, err error) error {
	if err == nil && fmt.Sprint(reply) != "1" {
		err = fmt.Errorf("answered %v", reply)
	}
	return err
}

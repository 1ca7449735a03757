// Command redigo takes the steps of a lock with redigo.
package main

import (
	"errors"
	"time"

	"clients/steps"

	"github.com/gomodule/redigo/redis"
)

type client struct {
	pool *redis.Pool
	addr string
}

func main() {
	_, addr, prefix := steps.Args()
	steps.Version("github.com/gomodule/redigo")
	steps.Raw(open(addr, 0), prefix)
}

func open(addr string, db int) client {
	return client{&redis.Pool{
		MaxIdle: 8,
		Dial: func() (redis.Conn, error) {
			return redis.Dial("tcp", addr, redis.DialDatabase(db), redis.DialPassword(steps.Password()), redis.DialClientName("bench"))
		},
		TestOnBorrow: func(c redis.Conn, _ time.Time) error {
			_, err := c.Do("PING")
			return err
		},
	}, addr}
}

func (c client) do(name string, args ...any) (any, error) {
	conn := c.pool.Get()
	defer conn.Close()
	reply, err := conn.Do(name, args...)
	if b, is := reply.([]byte); is {
		reply = string(b)
	}
	return reply, err
}

func (c client) SetNX(key, token string, ttl time.Duration) (bool, error) {
	reply, err := c.do("SET", key, token, "NX", "PX", ttl.Milliseconds())
	return reply == "OK", err
}

func (c client) Get(key string) (any, error) { return c.do("GET", key) }

func (c client) TTL(key string) (time.Duration, error) {
	ms, err := redis.Int64(c.do("PTTL", key))
	return time.Duration(ms) * time.Millisecond, err
}

func (c client) Script(text string) steps.Script {
	s := redis.NewScript(1, text)
	return func(key string, args ...any) (any, error) {
		conn := c.pool.Get()
		defer conn.Close()
		return s.Do(conn, append([]any{key}, args...)...)
	}
}

func (c client) ScriptLoad(text string) (string, error) {
	return redis.String(c.do("SCRIPT", "LOAD", text))
}

func (c client) EvalSha(sha, key string, args ...any) (any, error) {
	return c.do("EVALSHA", append([]any{sha, 1, key}, args...)...)
}

func (c client) Watched(key string, meddle func()) (any, error) {
	conn := c.pool.Get()
	defer conn.Close()
	if _, err := conn.Do("WATCH", key); err != nil {
		return nil, err
	}
	if _, err := conn.Do("GET", key); err != nil {
		return nil, err
	}
	meddle()
	_ = conn.Send("MULTI")
	_ = conn.Send("PEXPIRE", key, 20000)
	reply, err := redis.Values(conn.Do("EXEC"))
	if errors.Is(err, redis.ErrNil) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return reply[0] == int64(1), nil
}

func (c client) Pipeline(key, token string) (any, error) {
	conn := c.pool.Get()
	defer conn.Close()
	_ = conn.Send("SET", key, token, "NX", "PX", 60000)
	_ = conn.Send("GET", key)
	_ = conn.Send("DEL", key)
	if err := conn.Flush(); err != nil {
		return nil, err
	}
	a, e1 := conn.Receive()
	b, e2 := redis.String(conn.Receive())
	d, e3 := conn.Receive()
	return []any{a, b, d}, errors.Join(e1, e2, e3)
}

func (c client) Database(n int) (steps.Client, error) { return open(c.addr, n), nil }

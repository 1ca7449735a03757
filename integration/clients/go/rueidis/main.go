// Command rueidis takes the steps of a lock with rueidis, with its client-side
// caching switched on as it comes (asked for by OPTIN, and not used).
package main

import (
	"context"
	"strconv"
	"time"

	"clients/steps"

	"github.com/redis/rueidis"
)

var ctx = context.Background()

type client struct {
	rueidis.Client
	opts rueidis.ClientOption
}

func main() {
	own, addr, prefix := steps.Args()
	steps.Version("github.com/redis/rueidis")
	opts := rueidis.ClientOption{InitAddress: []string{addr}, Password: steps.Password(), ClientName: "bench", DisableCache: len(own) > 0}
	c, err := rueidis.NewClient(opts)
	steps.Tell("connect", steps.Result(true, err))
	if err != nil {
		return
	}
	defer c.Close()
	steps.Raw(client{c, opts}, prefix)
}

func (c client) SetNX(key, token string, ttl time.Duration) (bool, error) {
	var reply any
	var err error
	if ttl%time.Second == 0 {
		reply, err = value(c.Do(ctx, c.B().Set().Key(key).Value(token).Nx().Ex(ttl).Build()))
	} else {
		reply, err = value(c.Do(ctx, c.B().Set().Key(key).Value(token).Nx().Px(ttl).Build()))
	}
	return reply == "OK", err
}

// value is nil for a null.
func value(r rueidis.RedisResult) (any, error) {
	v, err := r.ToAny()
	if rueidis.IsRedisNil(err) {
		return nil, nil
	}
	return v, err
}

func (c client) Get(key string) (any, error) { return value(c.Do(ctx, c.B().Get().Key(key).Build())) }

func (c client) TTL(key string) (time.Duration, error) {
	ms, err := c.Do(ctx, c.B().Pttl().Key(key).Build()).AsInt64()
	return time.Duration(ms) * time.Millisecond, err
}

func (c client) Script(text string) steps.Script {
	s := rueidis.NewLuaScript(text)
	return func(key string, args ...any) (any, error) {
		return value(s.Exec(ctx, c.Client, []string{key}, texts(args)))
	}
}

func texts(args []any) []string {
	var out []string
	for _, a := range args {
		switch a := a.(type) {
		case string:
			out = append(out, a)
		case int:
			out = append(out, strconv.Itoa(a))
		}
	}
	return out
}

func (c client) ScriptLoad(text string) (string, error) {
	return c.Do(ctx, c.B().ScriptLoad().Script(text).Build()).ToString()
}

func (c client) EvalSha(sha, key string, args ...any) (any, error) {
	return value(c.Do(ctx, c.B().Evalsha().Sha1(sha).Numkeys(1).Key(key).Arg(texts(args)...).Build()))
}

func (c client) Watched(key string, meddle func()) (reply any, err error) {
	err = c.Dedicated(func(d rueidis.DedicatedClient) error {
		if err := d.Do(ctx, d.B().Watch().Key(key).Build()).Error(); err != nil {
			return err
		}
		if err := d.Do(ctx, d.B().Get().Key(key).Build()).Error(); err != nil {
			return err
		}
		meddle()
		done := d.DoMulti(ctx, d.B().Multi().Build(), d.B().Pexpire().Key(key).Milliseconds(20000).Build(), d.B().Exec().Build())
		got, err := done[2].ToArray()
		if rueidis.IsRedisNil(err) {
			return nil
		}
		if err == nil {
			reply, err = got[0].AsBool()
		}
		return err
	})
	return reply, err
}

func (c client) Pipeline(key, token string) (any, error) {
	var out []any
	for _, r := range c.DoMulti(ctx, c.B().Set().Key(key).Value(token).Nx().PxMilliseconds(60000).Build(),
		c.B().Get().Key(key).Build(), c.B().Del().Key(key).Build()) {
		v, err := value(r)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (c client) Database(n int) (steps.Client, error) {
	opts := c.opts
	opts.SelectDB = n
	other, err := rueidis.NewClient(opts)
	return client{other, opts}, err
}

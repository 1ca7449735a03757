package main

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func startMasters(t *testing.T) []*redis.Client {
	t.Helper()
	e, err := startEmbedded(embeddedMasters)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.stop)
	var clients []*redis.Client
	for _, m := range e.list() {
		if !m.Embedded {
			t.Errorf("%s is not Embedded", m.Name)
		}
		c := redis.NewClient(&redis.Options{Addr: m.Address})
		t.Cleanup(func() { c.Close() })
		clients = append(clients, c)
	}
	return clients
}

// TestEmbeddedKeysExpire: time passes in the masters even when no client asks them, and
// as fast as here. A key's life is compared with the master's own clock, which lags
// behind ours while the machine is busy.
func TestEmbeddedKeysExpire(t *testing.T) {
	const ttl, patience = 100 * time.Millisecond, 10 * time.Second
	start := time.Now()
	for _, c := range startMasters(t) {
		begin, asked := masterTime(t, c), time.Now()
		if err := c.Set(t.Context(), "k", "t", ttl).Err(); err != nil {
			t.Fatal(err)
		}
		for c.Exists(t.Context(), "k").Val() == 1 {
			if time.Since(asked) > patience {
				t.Fatal("the key stays")
			}
		}
		if lived := masterTime(t, c).Sub(begin); lived < ttl {
			t.Errorf("expired after %v, want %v", lived, ttl)
		}
		// Our clock as it would be if it had not been set meanwhile.
		ours := func() time.Time { return start.Add(time.Since(start)) }
		for before := ours(); ; before = ours() {
			there := masterTime(t, c)
			if there.After(ours()) {
				t.Fatalf("it is %v there, and %v here", there, ours())
			}
			if before.Sub(there) < ttl/5 {
				break
			}
			if time.Since(asked) > patience {
				t.Fatalf("always late, at last it is %v there, and %v here", there, ours())
			}
		}
	}
}

// masterTime returns the master's time.
func masterTime(t *testing.T, c *redis.Client) time.Time {
	t.Helper()
	now, err := c.Time(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// TestEmbeddedTimeFitsTTL: in one script TIME + PTTL is the PXAT that another script set,
// as on a real master. When a copy ends is read in this way (V15).
func TestEmbeddedTimeFitsTTL(t *testing.T) {
	c := startMasters(t)[0]
	const set = `return redis.call('set', KEYS[1], 't', 'pxat', ARGV[1])`
	const expiry = `local t = redis.call('time')
return t[1] * 1000 + math.floor(t[2] / 1000) + redis.call('pttl', KEYS[1])`
	for i := range 200 {
		now, err := c.Time(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		want := now.UnixMilli() + 60_000 + int64(i)
		if err := c.Eval(t.Context(), set, []string{"k"}, want).Err(); err != nil {
			t.Fatal(err)
		}
		got, err := c.Eval(t.Context(), expiry, []string{"k"}).Int64()
		if err != nil || got != want {
			t.Fatalf("expiry is %d (%v), want %d", got, err, want)
		}
	}
}

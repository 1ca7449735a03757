package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/integration/rig"
)

// linked is two redlockd over three masters, the first of them through links.
func linked(t *testing.T) (one, other *redis.Client, links []*Link) {
	t.Helper()
	masters := StartMasters(t, 3)
	cfg := rig.Over(masters)
	cfg.Timeout = 50 * time.Millisecond
	r := StartRedlockd(t, cfg, masters)
	for _, m := range masters {
		links = append(links, NewLink(t, m.Addr))
	}
	for i, l := range links {
		cfg.Masters[i] = l.Addr
	}
	far := JoinRedlockd(t, cfg)
	far.WaitVoting(masters...)
	return far.Client(), r.Client(), links
}

// late makes a command arrive at the masters 5 ms after it was answered.
func late(links []*Link, command func() error) error {
	for _, l := range links {
		l.Slow(55 * time.Millisecond)
	}
	return command()
}

// TestDeniedExtendShortensNothing is V6: an extend that was answered NOQUORUM
// reaches the masters 5 ms later, and shortens nothing that was told since.
func TestDeniedExtendShortensNothing(t *testing.T) {
	t.Parallel()
	one, other, links := linked(t)
	ctx := context.Background()
	var told []string
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
		key := fmt.Sprint("k", round)
		if ok, err := other.SetNX(ctx, key, "A", 10*time.Second).Result(); !ok || err != nil {
			t.Fatalf("taking %s: %v, %v", key, ok, err)
		}
		time.Sleep(500*time.Millisecond + rand.N(500*time.Millisecond)) // when in a second it comes matters
		err := late(links, func() error { return one.Eval(ctx, extendScript, []string{key}, "A", 1000).Err() })
		n, err2 := other.Eval(ctx, extendScript, []string{key}, "A", 20000).Int()
		time.Sleep(10 * time.Millisecond) // what is late stays so, until the answers are in
		for _, l := range links {
			l.Slow(0)
		}
		if err != nil && strings.HasPrefix(err.Error(), "NOQUORUM ") && err2 == nil && n == 1 {
			told = append(told, key)
		}
	}
	if len(told) == 0 {
		t.Fatal("no extend was denied")
	}
	time.Sleep(1500 * time.Millisecond)
	for _, key := range told {
		if ok, err := other.SetNX(ctx, key, "B", time.Second).Result(); ok || err != nil {
			t.Errorf("%s was extended to 20s two seconds ago, and B is told %v, %v", key, ok, err)
		}
	}
}

// TestTriedAgainElsewhere is V6: the token that one redlockd was asked with in
// vain takes the lock at another one, with the same absolute expiry, and what the
// first one rolls back then is not that lock.
func TestTriedAgainElsewhere(t *testing.T) {
	t.Parallel()
	one, other, links := linked(t)
	ctx := context.Background()
	again := 0
	for round := range 20 {
		key, until := fmt.Sprint("k", round), time.Now().Add(20*time.Second).UnixMilli()
		take := func(c *redis.Client) error { return c.Do(ctx, "SET", key, "A", "NX", "PXAT", until).Err() }
		err := late(links, func() error { return take(one) })
		err2 := take(other)
		for _, l := range links {
			l.Slow(0)
		}
		if err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM ") || err2 != nil {
			continue
		}
		again++
		eventually(t, "the first redlockd is told of another key, behind its rollbacks", func() (bool, string) {
			err := one.Do(ctx, "SET", key+" after", "A", "PX", 1000).Err()
			return err == nil, fmt.Sprint(err)
		})
		if got, err := other.Get(ctx, key).Result(); got != "A" || err != nil {
			t.Errorf("round %d: A has the lock by another redlockd, which finds %q, %v", round, got, err)
		}
	}
	if again == 0 {
		t.Fatal("no acquire was denied by one redlockd and won by the other")
	}
}

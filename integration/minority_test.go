package integration

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestP3MinorityAway is P3: with one and with two of five masters dead, frozen
// or late, clients notice nothing, and locks of before are what they were.
func TestP3MinorityAway(t *testing.T) {
	t.Parallel()
	for _, fault := range []struct {
		name string
		do   func(*Master, *Link)
	}{
		{"killed", func(m *Master, _ *Link) { m.Kill() }},
		{"frozen", func(m *Master, _ *Link) { m.Freeze() }},
		{"late", func(_ *Master, l *Link) { l.Slow(time.Second) }},
		{"cut off", func(_ *Master, l *Link) { l.Cut() }},
	} {
		for _, away := range []int{1, 2} {
			t.Run(fmt.Sprintf("%d %s", away, fault.name), func(t *testing.T) {
				masters := StartMasters(t, 5)
				cfg := overFive(masters)
				links := make([]*Link, away)
				for i := range links {
					links[i] = NewLink(t, masters[i].Addr)
					cfg.Masters[i] = links[i].Addr
				}
				r := StartRedlockd(t, cfg, masters)
				before := "taken before"
				r.wantTake(before)
				for i, l := range links {
					fault.do(masters[i], l)
				}
				for i := range 20 {
					key := fmt.Sprintf("taken after %d", i)
					r.wantTake(key)
					r.wantLife(key)
				}
				r.wantLife(before)
			})
		}
	}
}

// wantTake takes the lock for "me".
func (r *Redlockd) wantTake(key string) {
	r.tb.Helper()
	c := r.Client()
	if ok, err := c.SetNX(context.Background(), key, "me", 60*time.Second).Result(); !ok || err != nil {
		r.tb.Fatalf("taking %s: %v, %v", key, ok, err)
	}
}

// wantLife requires that "me" has the lock, and releases it.
func (r *Redlockd) wantLife(key string) {
	r.tb.Helper()
	ctx, c := context.Background(), r.Client()
	want := func(what string, got any, err error, want any) {
		r.tb.Helper()
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			r.tb.Fatalf("%s of %s: %v, %v; want %v", what, key, got, err, want)
		}
	}
	ok, err := c.SetNX(ctx, key, "you", 60*time.Second).Result()
	want("acquire by another", ok, err, false)
	token, err := c.Get(ctx, key).Result()
	want("GET", token, err, "me")
	n, err := c.Eval(ctx, releaseScript, []string{key}, "you").Result()
	want("release by another", n, err, 0)
	n, err = c.Eval(ctx, extendScript, []string{key}, "me", 90_000).Result()
	want("extend", n, err, 1)
	left, err := c.PTTL(ctx, key).Result()
	want("PTTL is more than before", left > 60*time.Second && left <= 90*time.Second, err, true)
	n, err = c.Eval(ctx, releaseScript, []string{key}, "me").Result()
	want("release", n, err, 1)
	n, err = c.Eval(ctx, releaseScript, []string{key}, "me").Result()
	want("second release", n, err, 0)
	exists, err := c.Exists(ctx, key).Result()
	want("EXISTS", exists, err, 0)
	ok, err = c.SetNX(ctx, key, "you", 60*time.Second).Result()
	want("acquire by another, after the release", ok, err, true)
}

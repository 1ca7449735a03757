package rig

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Info is a field of what INFO answers, or "" where it has none or nobody
// answers.
func (r *Redlockd) Info(field string) string {
	c := Direct(r.Addr, r.Config.Password)
	defer c.Close()
	text, _ := c.Info(context.Background(), "everything").Result()
	_, after, _ := strings.Cut(text, "\n"+field+":")
	value, _, _ := strings.Cut(after, "\r")
	return value
}

// Metric is a number without labels that the admin address tells of.
func (r *Redlockd) Metric(name string) float64 {
	r.tb.Helper()
	for line := range strings.Lines(r.scrape()) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				r.tb.Fatalf("metric %s: %v", name, err)
			}
			return n
		}
	}
	r.tb.Fatalf("no metric %s", name)
	return 0
}

// scrape asks again where a redlockd that stood still meanwhile says that it
// took too long.
func (r *Redlockd) scrape() string {
	r.tb.Helper()
	for end := time.Now().Add(Patience); ; {
		resp, err := http.Get("http://" + r.Admin + "/metrics")
		if err != nil {
			r.tb.Fatalf("metrics: %v", err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		switch {
		case err != nil:
			r.tb.Fatalf("metrics: %v", err)
		case resp.StatusCode == http.StatusOK:
			return string(text)
		case resp.StatusCode != http.StatusServiceUnavailable || time.Now().After(end):
			r.tb.Fatalf("metrics: %s: %s", resp.Status, text)
		}
	}
}

// Goroutines is how many the process has.
func (r *Redlockd) Goroutines() int { return int(r.Metric("go_goroutines")) }

// RSS is the memory of the process in bytes.
func (r *Redlockd) RSS() int64 { return int64(r.Metric("process_resident_memory_bytes")) }

// WaitVoting waits until each of these masters takes part in acquires: until
// a lock taken through redlockd is found on it. The lock is released again.
func (r *Redlockd) WaitVoting(masters ...*Master) {
	r.tb.Helper()
	c := r.Client()
	// As long as the locks of the tests: the masters' marks tell the greatest
	// hold, and no greater one is given before they do (M3).
	ttl := 90 * time.Second
	if most := r.Config.MaxTTL; most > 0 {
		ttl = min(ttl, most)
	}
	Eventually(r.tb, "all the masters vote", func() (bool, string) {
		key := fmt.Sprintf("probe:%s:%d", r.Addr, time.Now().UnixNano())
		ctx := context.Background()
		if ok, err := c.SetNX(ctx, key, "probe", ttl).Result(); !ok {
			return false, fmt.Sprintf("taking %s: %v", key, err)
		}
		without := WaitHeld(masters, key, "probe", 200*time.Millisecond)
		if n, err := c.Eval(ctx, ReleaseScript, []string{key}, "probe").Int(); n != 1 {
			return false, fmt.Sprintf("releasing %s: %d, %v", key, n, err)
		}
		return len(without) == 0, fmt.Sprintf("%s is not on %v", key, without)
	})
}

// ReleaseScript deletes the key if it still has the token.
const ReleaseScript = `
local mine = redis.call('GET', KEYS[1]) == ARGV[1]
if mine then return redis.call('DEL', KEYS[1]) end
return 0`

// ExtendScript gives the key a new TTL if it still has the token.
const ExtendScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`

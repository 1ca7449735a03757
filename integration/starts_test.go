package integration

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestFortyStarts: forty redlockd that start within two minutes, each of which ends as by a
// power cut when it has granted, all serve, and another one serves all the while.
func TestFortyStarts(t *testing.T) {
	t.Parallel()
	masters := StartMasters(t, 3)
	cfg := overFive(masters)
	cfg.Timeout = 100 * time.Millisecond // a start waits for several of these
	Bootstrap(t, cfg)
	began := time.Now()
	beside := JoinRedlockd(t, cfg)
	twentyStarts(t, cfg, "first")
	beside.WaitVoting(masters...)
	ctx, c := context.Background(), beside.Client()
	if ok, err := c.SetNX(ctx, "kept", "beside", 90*time.Second).Result(); !ok {
		t.Fatalf("taking a lock at the other one: %v", err)
	}
	twentyStarts(t, cfg, "then")
	if n, err := c.Eval(ctx, releaseScript, []string{"kept"}, "beside").Int(); n != 1 {
		t.Errorf("releasing it: %d, %v, want 1", n, err)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("the starts took %v", took)
	}
}

// twentyStarts starts them at once, because each start waits, and returns when all have
// granted and are dead.
func twentyStarts(t *testing.T, cfg Config, key string) {
	t.Helper()
	var starts sync.WaitGroup
	for i := range 20 {
		starts.Go(func() {
			r := JoinRedlockd(t, cfg)
			defer r.Kill()
			c := r.Client()
			eventually(t, "a start serves", func() (bool, string) {
				ok, err := c.SetNX(context.Background(), fmt.Sprint(key, i), "t", 20*time.Second).Result()
				return ok, fmt.Sprint(ok, " ", err)
			})
		})
	}
	starts.Wait()
}

package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// crowd is how many clients keep trying while there is no majority.
const crowd = 200

// The bounds of what redlockd may use while nobody is answered: memory in all,
// and goroutines, of which every session has a few.
const (
	memoryBound    = 128 << 20
	goroutineBound = 4*crowd + 200
)

// raceFactor is by how much the race detector multiplies memory.
const raceFactor = 6

// TestMajorityFrozen is P3 and P4 where no majority can tell: every answer is
// NOQUORUM, none hangs, nothing grows without bound, and service is back by
// itself.
func TestMajorityFrozen(t *testing.T) {
	t.Parallel()
	length := 10 * time.Second
	if testing.Short() {
		length = 2 * time.Second
	}
	r, masters := StartCluster(t, 5)
	r.wantTake("held before")
	for _, m := range masters[:3] {
		m.Freeze()
	}

	var answers atomic.Int64
	var wg sync.WaitGroup
	done := make(chan struct{})
	leave := sync.OnceFunc(func() { close(done); wg.Wait() })
	defer leave()
	for i := range crowd {
		c := r.Client()
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if !wantNoQuorum(t, c, fmt.Sprintf("crowd:%d", i), n) {
					return
				}
				answers.Add(1)
			}
		})
	}
	memory := int64(0)
	for end := time.Now().Add(length); time.Now().Before(end); {
		memory = max(memory, r.RSS())
		time.Sleep(50 * time.Millisecond) // the time between two looks
	}
	leave()
	t.Logf("%d answers, at most %d MiB", answers.Load(), memory>>20)
	bound := int64(memoryBound)
	if raceDetector {
		bound *= raceFactor
	}
	if memory > bound {
		t.Errorf("redlockd used %d MiB, want at most %d", memory>>20, bound>>20)
	}
	if answers.Load() < crowd {
		t.Errorf("%d clients had %d answers in %v", crowd, answers.Load(), length)
	}

	for _, m := range masters[:3] {
		m.Thaw()
	}
	r.WaitVoting(masters...)
	r.wantLife("held before")
	keys := make([]string, crowd)
	for i := range keys {
		keys[i] = fmt.Sprintf("crowd:%d", i)
	}
	waitGone(t, masters, keys...)
}

// TestGoroutinesBounded is M1 for goroutines: a crowd of clients that cannot
// be answered costs some for each session, and none for each operation.
func TestGoroutinesBounded(t *testing.T) {
	r, masters := StartCluster(t, 5)
	for _, m := range masters[:3] {
		m.Freeze()
	}
	var asked atomic.Int64
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range crowd {
		c := r.Client()
		wg.Go(func() {
			ctx := context.Background()
			for c.SetNX(ctx, fmt.Sprintf("crowd:%d", i), "me", time.Minute).Err() != nil && r.Running() {
				asked.Add(1)
			}
		})
	}
	eventually(t, "all clients are at it", func() (bool, string) {
		n := asked.Load()
		return n > 10*crowd, fmt.Sprintf("%d answers", n)
	})
	n := r.Goroutines()
	r.Kill() // which ends the clients
	t.Logf("%d goroutines for %d clients", n, crowd)
	if n > goroutineBound || n < crowd/2 {
		t.Errorf("redlockd had %d goroutines for %d clients, want at most %d", n, crowd, goroutineBound)
	}
}

// wantNoQuorum asks something and requires the answer NOQUORUM.
func wantNoQuorum(t *testing.T, c *redis.Client, key string, n int) bool {
	ctx := context.Background()
	var what string
	var err error
	switch n % 4 {
	case 0, 1:
		what = "SET NX"
		err = c.SetNX(ctx, key, "me", time.Minute).Err()
	case 2:
		what = "GET"
		err = c.Get(ctx, key).Err()
	case 3:
		what = "extend"
		err = c.Eval(ctx, extendScript, []string{"held before"}, "me", 60_000).Err()
	}
	if err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM ") {
		t.Errorf("%s without a majority: %v, want NOQUORUM", what, err)
		return false
	}
	return true
}

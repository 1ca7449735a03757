package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redlockd/redlockd/integration/rig"
)

// TestLockOutlivesRestartOfAll is V9 and M4: a lock that is extended every
// third of its TTL survives an empty restart of all masters, one after
// another, each when the one before votes again.
func TestLockOutlivesRestartOfAll(t *testing.T) {
	t.Parallel()
	masters := rig.StartMasters(t, 5)
	cfg := rig.Over(masters)
	cfg.Timeout, cfg.RetryBudget, cfg.MaxTTL = timeout, retryBudget, 1100*time.Millisecond
	r := rig.StartRedlockd(t, cfg, masters)
	other := rig.JoinRedlockd(t, cfg)
	const key = "outlives"
	ctx, holder := context.Background(), r.Client()
	if ok, err := holder.SetNX(ctx, key, "me", cfg.MaxTTL).Result(); !ok {
		t.Fatal(err)
	}
	var over atomic.Bool
	var extends, tries int
	var both sync.WaitGroup
	both.Go(func() {
		for ; !over.Load(); time.Sleep(cfg.MaxTTL / 3) {
			n, err := holder.Eval(ctx, extendScript, []string{key}, "me", cfg.MaxTTL.Milliseconds()).Int()
			switch {
			case n == 1:
				extends++
			case err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM "):
				t.Errorf("extend %d: %d, %v", extends, n, err)
			}
		}
	})
	both.Go(func() {
		for c := other.Client(); !over.Load(); time.Sleep(20 * time.Millisecond) {
			if ok, _ := c.SetNX(ctx, key, "another", time.Second).Result(); ok {
				t.Errorf("the lock was given to another after %d extends", extends)
			}
			tries++
		}
	})
	began := time.Now()
	for _, m := range masters {
		m.RestartEmpty()
		r.WaitVoting(masters...)
	}
	over.Store(true)
	both.Wait()
	if n, err := holder.Eval(ctx, releaseScript, []string{key}, "me").Int(); n != 1 {
		t.Errorf("release: %d, %v", n, err)
	}
	t.Logf("five masters restarted empty in %v, %d extends, %d tries by another", time.Since(began).Round(time.Millisecond), extends, tries)
}

// TestOneWinner is V4, V5 and V7: of many clients at two redlockd that take
// one lock at the same time one wins, and never two.
func TestOneWinner(t *testing.T) {
	rounds := number("ROUNDS", 100)
	masters := rig.StartMasters(t, 5)
	cfg := rig.Over(masters)
	rs := []*rig.Redlockd{rig.StartRedlockd(t, cfg, masters), rig.JoinRedlockd(t, cfg)}
	rs[1].WaitVoting(masters...)
	var clients []*redis.Client
	for range 32 {
		clients = append(clients, rs[0].Client(), rs[1].Client())
	}
	ctx := context.Background()
	without, splits := 0, 0
	began := time.Now()
	for round := range rounds {
		key := fmt.Sprintf("contest:%d", round)
		winner, null, split := atomic.Int64{}, atomic.Int64{}, atomic.Int64{}
		winner.Store(-1)
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i, c := range clients {
			wg.Go(func() {
				<-start
				ok, err := c.SetNX(ctx, key, fmt.Sprint(i), time.Minute).Result()
				switch {
				case ok && !winner.CompareAndSwap(-1, int64(i)):
					t.Errorf("round %d: clients %d and %d have the lock", round, winner.Load(), i)
				case ok:
				case err == nil:
					null.Add(1)
				case strings.HasPrefix(err.Error(), "NOQUORUM ") && strings.Contains(err.Error(), "split"):
					split.Add(1)
				default:
					t.Errorf("round %d: client %d: %v", round, i, err)
				}
			})
		}
		close(start)
		wg.Wait()
		splits += int(split.Load())
		won := winner.Load()
		if won < 0 {
			without++
			if null.Load() > 0 {
				t.Logf("round %d without a winner: %d null, %d splits", round, null.Load(), split.Load())
			}
			continue
		}
		if n, err := clients[won].Eval(ctx, releaseScript, []string{key}, fmt.Sprint(won)).Int(); n != 1 {
			t.Errorf("round %d: release: %d, %v", round, n, err)
		}
	}
	t.Logf("%d clients, %d rounds in %v: %d without a winner, never two; %d answers named a split", len(clients), rounds,
		time.Since(began).Round(time.Millisecond), without, splits)
	if without > rounds/1000 {
		t.Errorf("%d of %d rounds had no winner, want at most 0.1 %%", without, rounds)
	}
}

// TestRedlockdFrozen is V2, V6 and P1 where redlockd stands still for longer
// than its locks' TTLs, at moments drawn at random.
func TestRedlockdFrozen(t *testing.T) {
	t.Parallel()
	freezes := number("FREEZES", 12)
	p := plan{clients: 32, redlockds: 5, minTTL: 150 * time.Millisecond, maxTTL: 400 * time.Millisecond}
	b := newBench(t, seed(), p)
	var left, frozen atomic.Int64
	left.Store(int64(freezes))
	b.run(func() {
		var wg sync.WaitGroup
		for n, r := range b.redlockds[1:] {
			rng := rand.New(rand.NewPCG(b.seed, uint64(1<<41+n)))
			wg.Go(func() {
				for left.Add(-1) >= 0 && !b.ended() {
					time.Sleep(rand64(rng, 300*time.Millisecond))
					b.freeze(r, b.maxTTL+50*time.Millisecond+rand64(rng, b.maxTTL))
					frozen.Add(1)
				}
			})
		}
		wg.Wait()
	})
	t.Logf("%d times a redlockd was frozen for longer than the TTL", frozen.Load())
	if want := freezes; b.h.counts["acquire yes"] < want {
		t.Errorf("%d locks were taken, want %d", b.h.counts["acquire yes"], want)
	}
}

// TestReplaceAllMasters is M8: all masters are replaced one after another
// under load, with the redlockd reloaded at different moments. A lock that is
// extended lives on, and a redlockd that is left on the old list refuses and
// says why.
func TestReplaceAllMasters(t *testing.T) {
	t.Parallel()
	b := newBench(t, seed(), plan{clients: 24, redlockds: 2, minTTL: 300 * time.Millisecond, maxTTL: 1100 * time.Millisecond})
	ctx, holder := context.Background(), b.redlockds[0].Client()
	old := b.redlockds[1].Config
	old.Address, old.Admin = "", ""
	left := rig.JoinRedlockd(b.k, old)
	b.run(func() {
		const key = "extended"
		rig.Eventually(t, "the lock is taken", func() (bool, string) {
			ok, err := holder.SetNX(ctx, key, "me", b.maxTTL).Result()
			return ok, fmt.Sprint(err)
		})
		var over atomic.Bool
		var extender sync.WaitGroup
		extends, unknowns := 0, 0
		extender.Go(func() {
			for ; !over.Load(); time.Sleep(b.maxTTL / 3) {
				n, err := holder.Eval(ctx, extendScript, []string{key}, "me", b.maxTTL.Milliseconds()).Int()
				switch {
				case n == 1:
					extends++
				case err != nil && strings.HasPrefix(err.Error(), "NOQUORUM "):
					unknowns++
				default:
					t.Errorf("extend %d: %d, %v", extends, n, err)
				}
			}
		})
		rng := rand.New(rand.NewPCG(b.seed, 1<<42))
		for at := range b.masters {
			b.replace(rng, at, nil)
			refused := left.Client().SetNX(ctx, fmt.Sprint("left:", at), "t", time.Second).Err()
			// Later on it reaches no majority at all.
			if refused == nil || at < 2 && !strings.Contains(refused.Error(), "another list of masters") {
				t.Errorf("the redlockd with the list of before, after change %d: %v", at+1, refused)
			}
		}
		over.Store(true)
		extender.Wait()
		if n, err := holder.Eval(ctx, releaseScript, []string{key}, "me").Int(); n != 1 {
			t.Errorf("release of the extended lock: %d, %v", n, err)
		}
		t.Logf("five masters replaced in %v; one lock extended %d times meanwhile, %d times NOQUORUM", b.h.now().Round(time.Millisecond), extends, unknowns)
	})
	if want := 50; b.h.counts["acquire yes"] < want {
		t.Errorf("%d locks were taken, want %d", b.h.counts["acquire yes"], want)
	}
}

package integration

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// cycler locks and releases once, on a key of its own.
type cycler func(worker int) error

// BenchmarkCycles compares cycles of lock and release a second, by 128
// clients on their own keys: through redlockd, by redsync over the same five
// masters, and over one Redis directly. An iteration is one round of all
// three, one after the other, so that a busy machine is busy for all.
func BenchmarkCycles(b *testing.B) {
	const clients, cycles = 128, 40
	masters := StartMasters(b, 5)
	r := StartRedlockd(b, overFive(masters), masters)
	one := StartMaster(b)
	var rates [3][]float64
	contenders := []cycler{
		cycleThrough(pooled(b, r.Addr, clients)),
		cycleRedsync(b, masters, clients),
		cycleThrough(pooled(b, one.Addr, clients)),
	}
	for _, c := range contenders { // connections and scripts
		round(b, c, clients, 2)
	}
	for b.Loop() {
		for i, c := range contenders {
			took := sum(round(b, c, clients, cycles))
			rates[i] = append(rates[i], clients*cycles/took.Seconds()*clients)
		}
	}
	redlockd, redsync, direct := median(rates[0]), median(rates[1]), median(rates[2])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(redlockd, "redlockd-cycles/s")
	b.ReportMetric(redsync, "redsync-cycles/s")
	b.ReportMetric(direct, "one-redis-cycles/s")
	b.ReportMetric(redlockd/redsync, "redlockd/redsync")
	b.ReportMetric(redlockd/direct, "redlockd/one-redis")
}

// BenchmarkMastersGone compares the median time of a cycle with one and two of
// five masters dead to that with all well, in rounds by turns.
func BenchmarkMastersGone(b *testing.B) {
	for _, clients := range []int{1, 32} {
		b.Run(fmt.Sprintf("%d clients", clients), func(b *testing.B) {
			var contenders [3]cycler
			for gone := range contenders {
				masters := StartMasters(b, 5)
				r := StartRedlockd(b, overFive(masters), masters)
				for _, m := range masters[:gone] {
					m.Kill()
				}
				contenders[gone] = cycleThrough(pooled(b, r.Addr, clients))
				round(b, contenders[gone], clients, 20)
			}
			var times [3][]time.Duration
			for b.Loop() {
				for gone, c := range contenders {
					times[gone] = append(times[gone], round(b, c, clients, 100)...)
				}
			}
			well := median(times[0])
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(well.Microseconds()), "µs/cycle-all-well")
			b.ReportMetric(float64(median(times[1]))/float64(well), "one-gone/all-well")
			b.ReportMetric(float64(median(times[2]))/float64(well), "two-gone/all-well")
		})
	}
}

// round lets every client do so many cycles, all at once, and returns how
// long each took.
func round(b *testing.B, do cycler, clients, cycles int) []time.Duration {
	b.Helper()
	took := make([][]time.Duration, clients)
	var wg sync.WaitGroup
	for w := range clients {
		wg.Go(func() {
			for range cycles {
				start := time.Now()
				if err := do(w); err != nil {
					b.Errorf("client %d: %v", w, err)
					return
				}
				took[w] = append(took[w], time.Since(start))
			}
		})
	}
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return slices.Concat(took...)
}

func pooled(b *testing.B, addr string, clients int) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr, PoolSize: clients, MaxRetries: -1, ReadTimeout: patience})
	b.Cleanup(func() { c.Close() })
	return c
}

// cycleThrough takes and releases with SET NX and a script.
func cycleThrough(c *redis.Client) cycler {
	release := redis.NewScript(releaseScript)
	return func(w int) error {
		ctx, key := context.Background(), fmt.Sprintf("bench:%d", w)
		if ok, err := c.SetNX(ctx, key, "token", 8*time.Second).Result(); !ok {
			return fmt.Errorf("not taken: %w", err)
		}
		if n, err := release.Run(ctx, c, []string{key}, "token").Int(); n != 1 {
			return fmt.Errorf("not released: %w", err)
		}
		return nil
	}
}

// cycleRedsync does the same with redsync, each client with its own mutex.
func cycleRedsync(b *testing.B, masters []*Master, clients int) cycler {
	pools := make([]redsyncredis.Pool, 0, len(masters))
	for _, m := range masters {
		pools = append(pools, goredis.NewPool(pooled(b, m.Addr, clients)))
	}
	rs := redsync.New(pools...)
	mutexes := make([]*redsync.Mutex, clients)
	for w := range mutexes {
		mutexes[w] = rs.NewMutex(fmt.Sprintf("redsync:%d", w), redsync.WithTimeoutFactor(0.5))
	}
	return func(w int) error {
		if err := mutexes[w].TryLock(); err != nil {
			return err
		}
		_, err := mutexes[w].Unlock()
		return err
	}
}

func sum(times []time.Duration) time.Duration {
	var all time.Duration
	for _, t := range times {
		all += t
	}
	return all
}

func median[T ~int64 | ~float64](list []T) T {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

package quorum

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// ballotsOf returns three ballots that created the lock, a silent one and an awaited
// one.
func ballotsOf() []vote.Ballot {
	return []vote.Ballot{{Vote: vote.Created}, {Vote: vote.Created}, {Vote: vote.Silent}, {Vote: vote.Created}, {Vote: vote.Awaited}}
}

// BenchmarkVote measures one verdict on the ballots of an attempt.
func BenchmarkVote(b *testing.B) {
	op, ballots, n := acquire("k", "t", 1), ballotsOf(), vote.Needs{Quorum: 3, Required: -1}
	b.ReportAllocs()
	for b.Loop() {
		if v, certain := vote.VerdictOf(op.question(), ballots, n); v != Won || !certain {
			b.Fatal("not won")
		}
	}
}

// BenchmarkCycle measures a lock and its release by one client at a time: each
// operation is a batch.
func BenchmarkCycle(b *testing.B) {
	c := newCycler(quickQuorum(b, 5), 0)
	b.ReportAllocs()
	for b.Loop() {
		c.cycle(b)
	}
}

// BenchmarkCycles128 measures the same by 128 clients at a time, whose operations share
// batches, on one processor and on all: for how long goroutines wait for mutexes shows what
// would not get faster with more processors.
func BenchmarkCycles128(b *testing.B) {
	for _, n := range []int{1, runtime.NumCPU()} {
		b.Run(fmt.Sprintf("processors=%d", n), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			q := quickQuorum(b, 5)
			cycleTogether(b, q, 1) // fill keys, connections and pools
			b.ReportAllocs()
			b.ResetTimer()
			before := mutexWait()
			cycleTogether(b, q, b.N)
			b.ReportMetric(float64(mutexWait()-before)/float64(b.N), "mutex-wait-ns/op")
		})
	}
}

// mutexWait returns for how long goroutines have waited for mutexes.
func mutexWait() time.Duration {
	wait := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	metrics.Read(wait)
	return time.Duration(wait[0].Value.Float64() * float64(time.Second))
}

// cycleTogether lets 128 clients carry out this many cycles in all.
func cycleTogether(tb testing.TB, q *Quorum, cycles int) {
	var left atomic.Int64
	left.Store(int64(cycles))
	var wg sync.WaitGroup
	for i := range 128 {
		c := newCycler(q, i)
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				c.cycle(tb)
			}
		})
	}
	wg.Wait()
}

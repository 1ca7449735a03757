// Package latency counts how long things take, in buckets that double.
package latency

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Bounds of a Histogram's buckets: the first holds what takes at most
// 32 microseconds, and each next one twice as much, up to 8.4 s.
const (
	firstBucketBits = 5
	buckets         = 19
)

// BucketBound is the greatest duration of a Histogram's bucket, 0 to len(Counts)-1.
func BucketBound(i int) time.Duration { return time.Microsecond << (firstBucketBits + i) }

// Histogram says how often something took how long, since the start.
type Histogram struct {
	// Counts are those of each bucket alone; what took longer than the last
	// bound is in Count only.
	Counts [buckets]uint64
	// Count is how many there were, Sum how long they took together.
	Count uint64
	Sum   time.Duration
}

// Recorder makes a Histogram. The zero value is ready. Safe for concurrent use; adding
// to it costs two additions and no lock, since every operation does.
type Recorder struct {
	counts [buckets + 1]atomic.Uint64
	sum    atomic.Int64
}

// Add counts what took so long.
func (r *Recorder) Add(d time.Duration) {
	micros := uint64(max(d, 1)+time.Microsecond-1) / uint64(time.Microsecond)
	at := bits.Len64(micros-1) - firstBucketBits
	r.counts[min(max(at, 0), buckets)].Add(1)
	r.sum.Add(int64(max(d, 0)))
}

// Read is what was counted so far. What is added meanwhile may be in some of it only.
func (r *Recorder) Read() Histogram {
	out := Histogram{Sum: time.Duration(r.sum.Load())}
	for i := range out.Counts {
		out.Counts[i] = r.counts[i].Load()
		out.Count += out.Counts[i]
	}
	out.Count += r.counts[buckets].Load()
	return out
}

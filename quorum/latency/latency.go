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

// BucketBound is the greatest duration of a Histogram's bucket.
func BucketBound(i int) time.Duration { return time.Microsecond << (firstBucketBits + i) }

// Histogram says how often something took how long, since the start.
type Histogram struct {
	// Counts are those of each bucket alone; what took longer than the last
	// bound is in Count only.
	Counts [buckets]uint64
	Count  uint64
	Sum    time.Duration
}

// Recorder makes a Histogram. Safe for concurrent use; adding to it
// costs two additions and no lock, since every operation does.
type Recorder struct {
	counts [buckets + 1]atomic.Uint64
	sum    atomic.Int64
}

func (h *Recorder) Add(d time.Duration) {
	micros := uint64(max(d, 1)+time.Microsecond-1) / uint64(time.Microsecond)
	at := bits.Len64(micros-1) - firstBucketBits
	h.counts[min(max(at, 0), buckets)].Add(1)
	h.sum.Add(int64(max(d, 0)))
}

func (h *Recorder) Read() Histogram {
	out := Histogram{Sum: time.Duration(h.sum.Load())}
	for i := range out.Counts {
		out.Counts[i] = h.counts[i].Load()
		out.Count += out.Counts[i]
	}
	out.Count += h.counts[buckets].Load()
	return out
}

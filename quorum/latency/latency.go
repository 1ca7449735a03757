// Package latency records durations in buckets, each twice as wide as the one before.
package latency

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Bounds of a Histogram's buckets: the first one counts durations up to 32
// microseconds, each next one up to twice as much, the last one up to 8.4 s.
const (
	firstBucketBits = 5
	buckets         = 19
)

// BucketBound returns the greatest duration of bucket i, 0 to len(Counts)-1.
func BucketBound(i int) time.Duration { return time.Microsecond << (firstBucketBits + i) }

// Histogram is the distribution of the durations recorded since the start.
type Histogram struct {
	// Counts are the numbers of durations in each bucket, not cumulative. Durations
	// beyond the last bound are in Count only.
	Counts [buckets]uint64
	// Count is the number of durations, Sum their total.
	Count uint64
	Sum   time.Duration
}

// Recorder collects a Histogram. The zero value is ready. Safe for concurrent use.
// Since every operation adds to it, Add costs two atomic additions and takes no lock.
type Recorder struct {
	counts [buckets + 1]atomic.Uint64
	sum    atomic.Int64
}

// Add records one duration.
func (r *Recorder) Add(d time.Duration) {
	micros := uint64(max(d, 1)+time.Microsecond-1) / uint64(time.Microsecond)
	at := bits.Len64(micros-1) - firstBucketBits
	r.counts[min(max(at, 0), buckets)].Add(1)
	r.sum.Add(int64(max(d, 0)))
}

// Read returns the durations recorded so far. One that is added meanwhile may be in
// some of the fields only.
func (r *Recorder) Read() Histogram {
	out := Histogram{Sum: time.Duration(r.sum.Load())}
	for i := range out.Counts {
		out.Counts[i] = r.counts[i].Load()
		out.Count += out.Counts[i]
	}
	out.Count += r.counts[buckets].Load()
	return out
}

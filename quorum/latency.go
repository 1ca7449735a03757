package quorum

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

// histogram is a Histogram that grows. Safe for concurrent use; adding to it
// costs two additions and no lock, since every operation does.
type histogram struct {
	counts [buckets + 1]atomic.Uint64
	sum    atomic.Int64
}

func (h *histogram) add(d time.Duration) {
	micros := uint64(max(d, 1)+time.Microsecond-1) / uint64(time.Microsecond)
	at := bits.Len64(micros-1) - firstBucketBits
	h.counts[min(max(at, 0), buckets)].Add(1)
	h.sum.Add(int64(max(d, 0)))
}

func (h *histogram) read() Histogram {
	out := Histogram{Sum: time.Duration(h.sum.Load())}
	for i := range out.Counts {
		out.Counts[i] = h.counts[i].Load()
		out.Count += out.Counts[i]
	}
	out.Count += h.counts[buckets].Load()
	return out
}

// kindNames are the operations as people count them; what Decide and its kin
// carry out is one of its own, since it takes two round trips or more.
var kindNames = [...]string{Read: "read", Acquire: "acquire", AcquireOrExtend: "acquire_or_extend", Release: "release",
	Extend: "extend", Remove: "remove", Expire: "expire", Store: "store", Decide: "decide", DecideAll: "transaction"}

// timings are how long operations took, from Do to their outcome, by kind.
type timings [len(kindNames)]histogram

func (t *timings) read() map[string]Histogram {
	out := make(map[string]Histogram, len(kindNames))
	for i, name := range kindNames {
		out[name] = t[i].read()
	}
	return out
}

// voteCounts are how one master's votes went.
type voteCounts struct{ counted, spare, silent atomic.Uint64 }

// Votes count one master's part in the verdicts.
type Votes struct {
	// Counted were there when the verdict fell.
	Counted uint64
	// Spare came after it, which was certain without them.
	Spare uint64
	// Silent did not come, came too late, or did not count (M3).
	Silent uint64
}

func (v *voteCounts) read() Votes {
	return Votes{Counted: v.counted.Load(), Spare: v.spare.Load(), Silent: v.silent.Load()}
}

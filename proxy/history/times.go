package history

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/internal/resp"
)

// Others is the name under which the times of keys are told that no pattern has.
const Others = "others"

// Bounds are the greatest durations of a Histogram's buckets.
var Bounds = []time.Duration{
	time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour,
}

// Histogram is a distribution of durations since the start.
type Histogram struct {
	// Counts are the numbers of durations in each bucket, not cumulative. Those beyond the
	// last bound are in Count only.
	Counts []uint64
	Count  uint64
	Sum    time.Duration
}

// Quantile returns the duration that a part of all are below, as if those of a bucket were spread
// evenly, and the last bound where it is beyond; -1 if there are none.
func (h Histogram) Quantile(part float64) time.Duration {
	if h.Count == 0 {
		return -1
	}
	want, sum, lower := part*float64(h.Count), 0.0, time.Duration(0)
	for i, n := range h.Counts {
		if n := float64(n); n > 0 && sum+n >= want {
			return lower + time.Duration((want-sum)/n*float64(Bounds[i]-lower))
		}
		sum, lower = sum+float64(n), Bounds[i]
	}
	return lower
}

// Times is how long the locks of a pattern were waited for, by clients that were refused them
// before, and how long they were held until they were released.
type Times struct {
	Pattern      string
	Waited, Held Histogram
}

// times counts durations by the first pattern that has the key. Safe for concurrent use.
type times struct {
	patterns []string
	all      []timing // of each pattern, and of the others
}

type timing struct{ waited, held recorder }

func newTimes(patterns []string) *times {
	t := &times{patterns: patterns, all: make([]timing, len(patterns)+1)}
	for i := range t.all {
		t.all[i] = timing{newRecorder(), newRecorder()}
	}
	return t
}

func (t *times) of(key string) *timing {
	if i := slices.IndexFunc(t.patterns, func(p string) bool { return resp.Glob(p, key) }); i >= 0 {
		return &t.all[i]
	}
	return &t.all[len(t.patterns)]
}

// recorder collects a Histogram.
type recorder struct {
	counts []atomic.Uint64
	sum    *atomic.Int64
}

func newRecorder() recorder { return recorder{make([]atomic.Uint64, len(Bounds)+1), new(atomic.Int64)} }

func (r recorder) add(d time.Duration) {
	i, _ := slices.BinarySearch(Bounds, d)
	r.counts[i].Add(1)
	r.sum.Add(int64(d))
}

func (r recorder) read() Histogram {
	h := Histogram{Counts: make([]uint64, len(Bounds)), Sum: time.Duration(r.sum.Load())}
	for i := range h.Counts {
		h.Counts[i] = r.counts[i].Load()
		h.Count += h.Counts[i]
	}
	h.Count += r.counts[len(Bounds)].Load()
	return h
}

// Times returns what was counted for each pattern, and for the others.
func (t *Locks) Times() []Times {
	var list []Times
	for i := range t.times.all {
		name := Others
		if i < len(t.times.patterns) {
			name = t.times.patterns[i]
		}
		list = append(list, Times{name, t.times.all[i].waited.read(), t.times.all[i].held.read()})
	}
	return list
}

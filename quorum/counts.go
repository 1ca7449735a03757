package quorum

import (
	"sync/atomic"

	"github.com/redlockd/redlockd/quorum/latency"
	"github.com/redlockd/redlockd/quorum/vote"
)

// counts count how operations ended, and how long they took. Safe for concurrent use.
type counts struct {
	// acquires are by verdict.
	acquires                  [vote.Changed + 1]atomic.Uint64
	released, extended, reads atomic.Uint64
	rollbacks, lateGrants     atomic.Uint64
	withoutMajority           atomic.Uint64

	timings timings
}

// ended counts an operation by its kind and verdict.
func (c *counts) ended(kind vote.Kind, v vote.Verdict) {
	switch {
	case v == vote.Undecided:
		c.withoutMajority.Add(1)
	case kind == vote.Read || kind == vote.Decide:
		c.reads.Add(1)
	case kind == vote.Release && v == vote.Won:
		c.released.Add(1)
	case kind == vote.Extend && v == vote.Won:
		c.extended.Add(1)
	}
	if kind == vote.Acquire || kind == vote.AcquireOrExtend {
		c.acquires[v].Add(1)
	}
}

// read returns what is counted here; the rest of the Counters is the cluster's.
func (c *counts) read() Counters {
	return Counters{Won: c.acquires[vote.Won].Load(), Held: c.acquires[vote.Held].Load(),
		Split: c.acquires[vote.Split].Load(), Undecided: c.acquires[vote.Undecided].Load(),
		Released: c.released.Load(), Extended: c.extended.Load(), Reads: c.reads.Load(),
		Rollbacks: c.rollbacks.Load(), LateGrants: c.lateGrants.Load(), WithoutMajority: c.withoutMajority.Load()}
}

// timings are the durations of operations that were decided, from Do to their outcome, by kind.
// Decide and DecideAll are apart from what they decide, since they take two round trips or more.
// What is refused for want of a majority takes microseconds, and says nothing of how long a lock
// takes.
type timings [vote.DecideAll + 1]latency.Recorder

func (t *timings) read() map[string]latency.Histogram {
	out := make(map[string]latency.Histogram, len(t))
	for kind := range t {
		out[vote.Kind(kind).String()] = t[kind].Read()
	}
	return out
}

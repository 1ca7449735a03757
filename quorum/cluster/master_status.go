package cluster

import (
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/latency"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// MasterStatus describes one master.
type MasterStatus struct {
	// Name and Address are those of the configuration.
	Name    string
	Address string
	// Required is whether the master must agree besides the majority (V11).
	Required bool
	// State is what the master can do now.
	State mark.State
	// Reason says why it does not vote; empty when it does.
	Reason string
	// Wait is the least time that its quarantine still lasts; 0 for none.
	Wait time.Duration
	// Version is the version it reports: 7.0.15, or "valkey 8.1.1". RunID is its run_id.
	Version string
	RunID   string
	// Votes counts its part in the verdicts, Batches the time from sending a batch (M2)
	// to its answer.
	Votes   Votes
	Batches latency.Histogram
}

// VoteCounts count how one master's votes went (Votes). Safe for concurrent use.
type VoteCounts struct{ counted, spare, silent atomic.Uint64 }

// Votes counts one master's part in the verdicts.
type Votes struct {
	// Counted votes were there when the verdict fell.
	Counted uint64
	// Spare votes came after the verdict, which was certain without them.
	Spare uint64
	// Silent votes did not come, came too late, or did not count (M3).
	Silent uint64
}

func (v *VoteCounts) read() Votes {
	return Votes{Counted: v.counted.Load(), Spare: v.spare.Load(), Silent: v.silent.Load()}
}

// Count counts a master's vote as it was when the verdict fell; spare is one that came later.
func (v *VoteCounts) Count(b vote.Vote, spare bool) {
	switch {
	case b == vote.Awaited || b == vote.Unasked:
	case b == vote.Silent:
		v.silent.Add(1)
	case spare:
		v.spare.Add(1)
	default:
		v.counted.Add(1)
	}
}

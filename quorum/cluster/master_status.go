package cluster

import (
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/latency"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// MasterState is what a master can do now, in one word for people.
type MasterState = mark.State

// The states, see package mark.
const (
	Voting     = mark.Voting
	Quarantine = mark.Quarantine
	Fresh      = mark.Fresh
	Frozen     = mark.Frozen
	Down       = mark.Down
	Refused    = mark.Refused
)

// MasterStatus describes one master.
type MasterStatus struct {
	// Name and Address are those of the configuration.
	Name    string
	Address string
	// Required is whether it must agree besides the majority (V11).
	Required bool
	// State is what it can do now.
	State MasterState
	// Reason says why it does not vote; empty when it does.
	Reason string
	// Wait is how long its quarantine still lasts at least; 0 for none.
	Wait time.Duration
	// Version is what it told: 7.0.15, or "valkey 8.1.1". RunID is its run_id.
	Version string
	RunID   string
	// Votes are its part in the verdicts, Batches the time from sending it a
	// batch (M2) to its answer.
	Votes   Votes
	Batches latency.Histogram
}

// VoteCounts count how one master's votes went (Votes). Safe for concurrent use.
type VoteCounts struct{ counted, spare, silent atomic.Uint64 }

// Votes count one master's part in the verdicts.
type Votes struct {
	// Counted were there when the verdict fell.
	Counted uint64
	// Spare came after it, which was certain without them.
	Spare uint64
	// Silent did not come, came too late, or did not count (M3).
	Silent uint64
}

func (v *VoteCounts) read() Votes {
	return Votes{Counted: v.counted.Load(), Spare: v.spare.Load(), Silent: v.silent.Load()}
}

// CountSpare counts a vote that the verdict did not need.
func (v *VoteCounts) CountSpare(b vote.Vote) {
	if b == vote.Silent {
		v.silent.Add(1)
		return
	}
	v.spare.Add(1)
}

// Count counts what a master's vote was when the verdict fell.
func (v *VoteCounts) Count(b vote.Vote) {
	switch b {
	case vote.Awaited, vote.Unasked:
	case vote.Silent:
		v.silent.Add(1)
	default:
		v.counted.Add(1)
	}
}

package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
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
	Name    string
	Address string
	// Required is whether it must agree besides the majority (V11).
	Required bool
	State    MasterState
	// Reason says why it does not vote; empty when it does.
	Reason string
	// Wait is how long its quarantine still lasts at least.
	Wait time.Duration
	// Version is what it told: 7.0.15, or "valkey 8.1.1". RunID is its run_id.
	Version string
	RunID   string
	// Votes are its part in the verdicts, Batches the time from sending it a
	// batch (M2) to its answer.
	Votes   Votes
	Batches Histogram
}

// Counters count since the start of the process.
type Counters struct {
	Won, Held, Split, Undecided   uint64 // acquires, by verdict
	Released, Extended, Reads     uint64
	Rollbacks, LateGrants         uint64
	Quarantines, LostConnections  uint64
	MasterErrors, WithoutMajority uint64
}

// Status is a snapshot for INFO and for people. It shares nothing with the
// Quorum.
type Status struct {
	Masters []MasterStatus
	Quorum  int
	Voting  int
	// Ready is whether locks can be taken: a quorum votes, the required master
	// among them, and redlockd does not wait by itself (M5).
	Ready bool
	// Generation counts the changes of the list of masters, Phase is how far
	// the last one is: announced, closed or final (M8).
	Generation int
	Phase      string
	Embedded   bool
	Counters   Counters
	// Timings are how long operations took, from Do to their outcome, by kind.
	Timings map[string]Histogram
	// UnderWay are the operations that were not told their outcome yet,
	// Waiting those of them that wait for others on their key (V7).
	UnderWay, Waiting int
}

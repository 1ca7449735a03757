package quorum

import (
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/latency"
)

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
	Masters []cluster.MasterStatus
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
	Timings map[string]latency.Histogram
	// UnderWay are the operations that were not told their outcome yet,
	// Waiting those of them that wait for others on their key (V7).
	UnderWay, Waiting int
}

package quorum

import (
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/latency"
)

// Counters count since the start of the process.
type Counters struct {
	Won, Held, Split, Undecided uint64 // acquires, by verdict
	// Released and Extended are those that were won, Reads those that were answered.
	Released, Extended, Reads uint64
	// Rollbacks are counted for each master, LateGrants are what was won too late to
	// be told (V2).
	Rollbacks, LateGrants uint64
	// Quarantines, LostConnections and MasterErrors are the masters' together.
	Quarantines, LostConnections uint64
	MasterErrors                 uint64
	// WithoutMajority are operations of any kind that ended Undecided.
	WithoutMajority uint64
}

// Status is a snapshot for INFO and for people. It shares nothing with the
// Quorum.
type Status struct {
	// Masters are those of the list in force, in its order.
	Masters []cluster.MasterStatus
	// Quorum is how many must agree, Voting how many may vote now.
	Quorum int
	Voting int
	// Ready is whether locks can be taken: a quorum votes, the required master
	// among them, and redlockd does not wait by itself (M5).
	Ready bool
	// Generation counts the changes of the list of masters, Phase is how far
	// the last one is: announced, closed or final (M8).
	Generation int
	Phase      string
	// Embedded is whether the masters live in this process (-dev).
	Embedded bool
	Counters Counters
	// Timings are how long operations took, from Do to their outcome, by kind.
	Timings map[string]latency.Histogram
	// UnderWay are the operations that were not told their outcome yet,
	// Waiting those of them that wait for others on their key (V7).
	UnderWay, Waiting int
}

package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/latency"
)

// Counters count since the start of the process.
type Counters struct {
	Won, Held, Split, Undecided uint64 // acquires, by verdict
	// Released and Extended count those that were won, Reads those that were answered.
	Released, Extended, Reads uint64
	// Rollbacks are counted for each master, LateGrants are operations won too late to
	// be answered so (V2).
	Rollbacks, LateGrants uint64
	// Quarantines, LostConnections and MasterErrors are sums over the masters.
	Quarantines, LostConnections uint64
	MasterErrors                 uint64
	// MessagesSent went to the other instances, MessagesHeard came from them; MessagesDropped
	// counts, for each master, what could not be sent there (S7).
	MessagesSent, MessagesDropped, MessagesHeard uint64
	// WithoutMajority counts operations of any kind that ended Undecided.
	WithoutMajority uint64
}

// Status is a snapshot for INFO and for operators. It shares nothing with the Quorum.
type Status struct {
	// Masters are those of the list in force, in its order.
	Masters []cluster.MasterStatus
	// Quorum is how many must agree, Voting how many may vote now.
	Quorum int
	Voting int
	// WarmingUp is how many do not vote yet only because this redlockd still watches their
	// clocks (M5).
	WarmingUp int
	// Ready reports whether locks can be taken: a quorum votes, including the required
	// master, and this redlockd does not itself pause granting (M5).
	Ready bool
	// Hint is what an operator can do to end the wait sooner, if anything: a new cluster, and
	// one that has lost all of its masters, can be begun anew (M6).
	Hint string
	// Generation counts the changes of the list of masters, Phase is the phase of the
	// last one: announced, closed or final (M8).
	Generation int
	Phase      string
	// Embedded reports whether the masters live in this process (-dev).
	Embedded bool
	Counters Counters
	// Silence is for how much longer this redlockd grants nothing, since the clocks of a majority
	// jumped together, or it stood still (M5); 0 if it grants.
	Silence time.Duration
	// Timings are the durations of operations that were decided, from Do to their outcome,
	// by kind.
	Timings map[string]latency.Histogram
	// UnderWay is the number of operations whose outcome was not delivered yet, Waiting
	// that of those among them that wait for others on their key (V7).
	UnderWay, Waiting int
}

package main

import (
	"context"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

const (
	// readyPatience is how long a start waits for a majority.
	readyPatience = 2 * time.Second
	// mostPatience is how long it waits where a majority only has to watch its clocks (M5).
	mostPatience = 15 * time.Second
)

// starter is what the start needs of the quorum.
type starter interface {
	WaitReady(ctx context.Context) error
	Status() quorum.Status
}

// waitReady waits for a majority: for readyPatience, and then on while it is only a matter
// of time, for mostPatience in all. Connections are not accepted meanwhile. So a start
// beside other redlockd costs clients that time (M5), and no error. After that an error is
// logged, and clients are answered NOQUORUM.
func waitReady(ctx context.Context, q starter) error {
	most, cancel := context.WithTimeout(ctx, mostPatience)
	defer cancel()
	for {
		patient, cancel := context.WithTimeout(most, readyPatience)
		err := q.WaitReady(patient)
		cancel()
		if err == nil || most.Err() != nil || !warmingUp(q.Status()) {
			return err
		}
	}
}

// warmingUp reports whether a majority will vote once its clocks have been watched.
func warmingUp(s quorum.Status) bool {
	return s.WarmingUp > 0 && s.Voting+s.WarmingUp >= s.Quorum
}

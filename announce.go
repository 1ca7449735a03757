package main

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/internal/admin"
	"github.com/redlockd/redlockd/quorum"
)

// readyPatience is how long a start waits for a majority. After that a warning is logged,
// and clients are answered NOQUORUM.
const readyPatience = 2 * time.Second

// waitReady waits for a majority, for at most readyPatience. Connections are not accepted
// meanwhile. So a start beside other redlockd, which takes a second (M5), costs clients
// that second and no error.
func waitReady(ctx context.Context, q *quorum.Quorum) error {
	patient, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	return q.WaitReady(patient)
}

// announce logs once if a majority is missing at the start, and once when it is there.
func announce(ctx context.Context, q *quorum.Quorum, log hclog.Logger) {
	err := waitReady(ctx, q)
	if err != nil && ctx.Err() == nil {
		status := q.Status()
		log.Warn("no majority of the masters may vote yet: until then every answer is NOQUORUM",
			"voting", status.Voting, "needed", status.Quorum, "masters", admin.Reasons(status))
		err = q.WaitReady(ctx)
	}
	if err == nil {
		status := q.Status()
		log.Info("ready", "voting", status.Voting, "masters", len(status.Masters))
	}
}

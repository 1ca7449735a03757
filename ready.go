package main

import (
	"context"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum"
)

// readyPatience is how long a start may go without a majority before it is
// warned about, and clients hear NOQUORUM.
const readyPatience = 2 * time.Second

// waitReady waits for a majority, so long at most. Who connects meanwhile is
// not accepted yet, so that a start beside other redlockd, which takes a second
// (M5), costs clients that second and no error.
func waitReady(ctx context.Context, q *quorum.Quorum) error {
	patient, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	return q.WaitReady(patient)
}

// announce says once when a majority is missing at the start, and when the
// majority is there.
func announce(ctx context.Context, q *quorum.Quorum, log hclog.Logger) {
	err := waitReady(ctx, q)
	if err != nil && ctx.Err() == nil {
		status := q.Status()
		log.Warn("no majority of the masters may vote yet: until then every answer is NOQUORUM",
			"voting", status.Voting, "needed", status.Quorum, "masters", reasons(status))
		err = q.WaitReady(ctx)
	}
	if err == nil {
		status := q.Status()
		log.Info("ready", "voting", status.Voting, "masters", len(status.Masters))
	}
}

// reasons is why each master that may not vote may not, and for how long.
func reasons(status quorum.Status) string {
	var said []string
	for _, m := range status.Masters {
		if m.State == quorum.Voting {
			continue
		}
		text := m.Name + " " + string(m.State)
		if m.Required {
			text = m.Name + " (required) " + string(m.State)
		}
		if m.Reason != string(m.State) && m.Reason != "" {
			text += ": " + m.Reason
		}
		if m.Wait > 0 {
			text += ", waiting " + m.Wait.Round(time.Second).String()
		}
		said = append(said, text)
	}
	return strings.Join(said, "; ")
}

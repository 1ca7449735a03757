package quorum

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/latency"
	"github.com/redlockd/redlockd/quorum/mark"
)

// Types that callers need. Packages cluster, latency and mark document them.
type (
	Config       = cluster.Config
	Master       = cluster.Master
	MasterState  = mark.State
	MasterStatus = cluster.MasterStatus
	Votes        = cluster.Votes
	Histogram    = latency.Histogram
)

// Databases is how many databases a client may SELECT (C5).
const Databases = cluster.Databases

// MarkKey and ChangeKey are redlockd's own keys, hidden from clients (M3, M8).
const (
	MarkKey   = mark.Key
	ChangeKey = cluster.ChangeKey
)

// The states of a master.
const (
	Voting     = mark.Voting
	Quarantine = mark.Quarantine
	Fresh      = mark.Fresh
	Frozen     = mark.Frozen
	Down       = mark.Down
	Refused    = mark.Refused
)

// Reserved reports whether a key is redlockd's own.
func Reserved(key string) bool { return cluster.Reserved(key) }

// DefaultConfig returns the defaults, without masters.
func DefaultConfig() Config { return cluster.DefaultConfig() }

// Bootstrap makes the marks of a new cluster real, see [cluster.Bootstrap].
func Bootstrap(ctx context.Context, cfg Config, log hclog.Logger) error {
	return cluster.Bootstrap(ctx, cfg, log)
}

// BucketBound returns the greatest duration of a Histogram's bucket.
func BucketBound(i int) time.Duration { return latency.BucketBound(i) }

package cluster

import (
	"context"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// New starts dialling the masters and returns at once; masters that are not reached yet
// are silent. now must be monotonic and count sleep. lock is called, from a goroutine of
// the cluster, when a change of the list of masters is announced. The error is that of
// Config.Validate. Close ends everything that New started.
func New(cfg Config, log hclog.Logger, now clock.Clock, lock Locker) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, log: log, now: now, lock: lock, events: newEvents(), masters: cfg.Masters}
	c.agreed = mark.NewAgreement(c.cfg.Settings(), now)
	c.change.init(c, cfg.Masters)
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.monitors.Go(func() { c.stalls.Beat(c.ctx, c.now) })
	c.Database(0)
	if !cfg.Masters[0].Embedded {
		c.monitors.Go(func() { c.change.follow(c.ctx) })
	}
	return c, nil
}

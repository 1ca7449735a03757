package cluster

import (
	"context"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// addressEvery is how often a master's address is resolved and dialled again.
const addressEvery = 15 * clock.LookEvery

// watchAddress closes the connection c when the master's address leads to another server,
// because a name, a virtual IP or a service has moved while the connection to the
// previous server stays up. That server keeps the seat as long as any instance uses it
// (M9), so without this the move would never end. An address that cannot be reached
// changes nothing.
func (mon *monitor) watchAddress(ctx context.Context, c *connection) {
	for {
		pause(ctx, nil, addressEvery)
		if ctx.Err() != nil {
			return
		}
		if runID := mon.runIDAt(ctx); runID != "" && runID != c.runID && ctx.Err() == nil {
			mon.log.Warn("address of a master now leads to another server, reconnecting", "run_id", runID)
			c.close()
			return
		}
	}
}

// runIDAt returns the run_id of the server that the address leads to, or "" if it cannot
// be found out.
func (mon *monitor) runIDAt(ctx context.Context) string {
	mon.mu.Lock()
	c := newConnection(mon.master)
	mon.mu.Unlock()
	defer context.AfterFunc(ctx, c.close)()
	defer c.close()
	if c.dial(0) != nil {
		return ""
	}
	info, err := c.ask(c.dialect.Client.B().Info().Section("server").Build())[0].ToString()
	if err != nil {
		return ""
	}
	return mark.ReadInfo(info).RunID
}

package cluster

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/mark"
)

// events counts what happens to masters, and wakes goroutines that wait for a change of a
// master's state. Safe for concurrent use.
type events struct {
	quarantines, lostConnections atomic.Uint64
	masterErrors                 atomic.Uint64

	mu     sync.Mutex
	signal chan struct{}
}

func newEvents() *events { return &events{signal: make(chan struct{})} }

// changed signals that a master's state or mark has changed.
func (e *events) changed() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.signal)
	e.signal = make(chan struct{})
}

// next returns a channel that is closed at the next change. Call it before looking at the
// state.
func (e *events) next() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.signal
}

// pause returns after d, or as soon as poke receives or ctx is over.
func pause(ctx context.Context, poke <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-poke:
	case <-ctx.Done():
	}
}

// logState logs a change of a master's state (docs/operations.md), and counts it. A
// master that is down from the start has lost no connection, but is named once: the
// others may be ready without it, and no other line would name it. While it is down,
// network errors vary all the time and are logged for debugging only; an error that the
// master itself answered is a warning, and so are two servers under one name.
func logState(log hclog.Logger, ev *events, was MasterState, why string, j mark.Judgement) {
	switch {
	case j.State == Voting:
		log.Info("master may vote")
	case j.Reason == mark.WhyWarmingUp:
		log.Info("master will vote after its clock has been watched for a while", "wait", j.Left.String())
	case j.State == Down && was == Down && why != "" && !j.ByMaster:
		log.Debug("master is down", "reason", j.Reason)
	case j.State == Down:
		if was != Down {
			ev.lostConnections.Add(1)
		}
		log.Warn("master is down", "reason", j.Reason)
	case j.State == was && !strings.HasSuffix(j.Reason, mark.WhyOtherServer):
		log.Debug("master may not vote", "state", string(j.State), "reason", j.Reason)
	default:
		if j.State == Quarantine && was != Quarantine {
			ev.quarantines.Add(1)
		}
		log.Warn("master may not vote", "state", string(j.State), "reason", j.Reason, "wait", j.Left.String())
	}
}

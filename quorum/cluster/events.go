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

// events counts what happens to masters, and wakes those who wait for a change of a
// master's state. Safe for concurrent use.
type events struct {
	quarantines, lostConnections atomic.Uint64
	masterErrors                 atomic.Uint64

	mu     sync.Mutex
	signal chan struct{}
}

func newEvents() *events { return &events{signal: make(chan struct{})} }

// changed says that a master's state or mark is another one now.
func (e *events) changed() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.signal)
	e.signal = make(chan struct{})
}

// next returns a channel that is closed at the next change. Take it before looking at
// the state.
func (e *events) next() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.signal
}

// pause returns after d, or as soon as it is poked or ctx is over.
func pause(ctx context.Context, poke <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-poke:
	case <-ctx.Done():
	}
}

// tellState logs a change of a master's state (docs/operations.md), and counts it. A
// master that is down from the start has lost no connection, but is named once: the
// others may well be ready without it, and nothing else would name it. While it is down
// the reasons that the network gives change all the time, and are for debugging; what
// the master says itself is news, and so are two servers under one name.
func tellState(log hclog.Logger, ev *events, was MasterState, why string, j mark.Judgement) {
	switch {
	case j.State == Voting:
		log.Info("master may vote")
	case j.Reason == mark.WhyWarmingUp:
		log.Info("master will vote after its clock has been watched for a while", "wait", j.Left.String())
	case j.State == Down && was == Down && why != "" && !j.Said:
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

package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

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

// until returns nil as soon as done returns true, which it calls again after each event, or
// ctx's error.
func (e *events) until(ctx context.Context, done func() bool) error {
	for {
		changed := e.next()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// count counts a change of a master's state. A master that is down from the start has lost no
// connection, and one whose clock is being watched has lost no locks.
func (e *events) count(was mark.State, j mark.Judgement) {
	switch {
	case was == j.State:
	case j.State == mark.Down:
		e.lostConnections.Add(1)
	case j.State == mark.Quarantine && j.Reason != mark.WhyWarmingUp:
		e.quarantines.Add(1)
	}
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

package quorum

import (
	"context"
	"sync"
	"sync/atomic"
)

// inFlight counts the operations under way, and can be closed for new ones. Every
// operation passes it twice, so it has no lock.
type inFlight struct {
	// inside is the count, with closedBit set once it is closed.
	inside atomic.Int64
	once   sync.Once
	empty  chan struct{}
}

const closedBit = 1 << 62

func (g *inFlight) init() { g.empty = make(chan struct{}) }

// enter adds one to the count, or returns false if it is closed.
func (g *inFlight) enter() bool {
	if g.inside.Add(1)&closedBit != 0 {
		g.leave()
		return false
	}
	return true
}

func (g *inFlight) leave() {
	if g.inside.Add(-1) == closedBit {
		g.once.Do(func() { close(g.empty) })
	}
}

func (g *inFlight) count() int { return int(g.inside.Load() &^ closedBit) }

// close keeps new operations out, and waits until none is under way.
func (g *inFlight) close(ctx context.Context) error {
	if g.inside.Or(closedBit)&^closedBit == 0 {
		g.once.Do(func() { close(g.empty) })
	}
	select {
	case <-g.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

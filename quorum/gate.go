package quorum

import (
	"context"
	"sync"
)

// gate counts what is inside, and can be closed for those outside.
type gate struct {
	mu     sync.Mutex
	inside int
	closed bool
	empty  chan struct{}
}

func (g *gate) init() { g.empty = make(chan struct{}) }

// enter returns false when the gate is closed.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside == 0 && g.closed {
		close(g.empty)
	}
}

func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside
}

// close lets nobody in any more, and waits until nobody is inside.
func (g *gate) close(ctx context.Context) error {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		if g.inside == 0 {
			close(g.empty)
		}
	}
	g.mu.Unlock()
	select {
	case <-g.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

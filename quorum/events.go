package quorum

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// events counts what happens, and wakes those who wait for a change of a
// master's state.
type events struct {
	won, held, split, undecided  atomic.Uint64
	released, extended, reads    atomic.Uint64
	rollbacks, lateGrants        atomic.Uint64
	quarantines, lostConnections atomic.Uint64
	masterErrors                 atomic.Uint64
	withoutMajority              atomic.Uint64

	timings timings

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

// next is closed at the next change. Take it before looking at the state.
func (e *events) next() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.signal
}

// ended counts an operation.
func (e *events) ended(kind Kind, v Verdict) {
	switch {
	case v == Undecided:
		e.withoutMajority.Add(1)
	case kind == Read || kind == Decide:
		e.reads.Add(1)
	case kind == Release && v == Won:
		e.released.Add(1)
	case kind == Extend && v == Won:
		e.extended.Add(1)
	}
	if kind != Acquire && kind != AcquireOrExtend {
		return
	}
	switch v {
	case Won:
		e.won.Add(1)
	case Held:
		e.held.Add(1)
	case Split:
		e.split.Add(1)
	case Undecided:
		e.undecided.Add(1)
	}
}

func (e *events) counters() Counters {
	return Counters{Won: e.won.Load(), Held: e.held.Load(), Split: e.split.Load(), Undecided: e.undecided.Load(),
		Released: e.released.Load(), Extended: e.extended.Load(), Reads: e.reads.Load(),
		Rollbacks: e.rollbacks.Load(), LateGrants: e.lateGrants.Load(),
		Quarantines: e.quarantines.Load(), LostConnections: e.lostConnections.Load(),
		MasterErrors: e.masterErrors.Load(), WithoutMajority: e.withoutMajority.Load()}
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

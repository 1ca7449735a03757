package outbox

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// Bounds on what waits for one master (M1), for all but releases, rollbacks and
// repeated changes: of these twice as much may wait (Crowded).
const (
	// MaxQueued is in tasks, MaxQueuedBytes about in bytes.
	MaxQueued      = 8192
	MaxQueuedBytes = 16 << 20
	// maxBatch bounds the tasks of one write.
	maxBatch = 512
	// maxRetries bounds what is kept for the next connection; beyond it the
	// copies end with their hold.
	maxRetries    = 65536
	maxRetryBytes = 32 << 20
)

// Outbox is what waits for one master: tasks in the order in which they are sent,
// how long the next batch of them waits (pace.go), and what is to be repeated, over
// this or the next connection (retries.go, changes.go). It does not know the master
// or whether that may be asked, so all of it can be tested without one. Not safe for
// concurrent use: whether a task may wait here and what the master's mark is go
// together (M3), so the link's mutex is held for both.
type Outbox struct {
	now   clock.Clock
	queue []*Task
	bytes int
	// Pace says when the next batch goes out.
	Pace Pace
	// retries are to be repeated; flush is whether that is to be tried now. purged
	// is when those were dropped last that had become useless.
	retries    map[Name]*Task
	retryBytes int
	flush      bool
	purged     time.Duration
	// undoing is how many rollbacks with a name wait or are under way.
	undoing map[Name]int
}

// NewOutbox makes an empty one for a link with this timeout (V2). enough is called, in a
// goroutine of its own, when the wait for a larger batch has taken too long; it has to
// stop the Pace and wake the sender.
func NewOutbox(now clock.Clock, timeout time.Duration, enough func()) Outbox {
	return Outbox{now: now, Pace: newPace(timeout, enough), retries: map[Name]*Task{}, undoing: map[Name]int{}}
}

// Put adds a task, and reports whether the sender is to be woken. What this redlockd
// takes now must not be freed by a release that it was asked for before (V8): that
// goes first.
func (o *Outbox) Put(t *Task) bool {
	if len(o.retries) > 0 {
		for _, name := range t.locks() {
			if before := o.takeRetry(name); before != nil {
				o.append(before)
			}
		}
	}
	o.append(t)
	return o.Pace.wakes(len(o.queue))
}

// Queued is how many tasks wait to be sent, and about how many bytes they take.
func (o *Outbox) Queued() (tasks, bytes int) { return len(o.queue), o.bytes }

// append puts a task behind all others.
func (o *Outbox) append(t *Task) {
	if t.Rollback {
		o.undoing[t.name()]++
	}
	o.queue = append(o.queue, t)
	o.bytes += t.size()
}

// Crowded reports whether the bounds are reached, or so many times the bounds.
func (o *Outbox) Crowded(times int) bool {
	return len(o.queue) >= times*MaxQueued || o.bytes >= times*MaxQueuedBytes
}

// Next are the tasks of the next batch, in order. They wait until Remove, and the slice
// is good until then.
func (o *Outbox) Next() []*Task { return o.queue[:min(len(o.queue), maxBatch)] }

// Remove takes the first n tasks out. The others move to the front, so that all batches
// use the same memory.
func (o *Outbox) Remove(n int) {
	for _, t := range o.queue[:n] {
		o.bytes -= t.size()
	}
	left := copy(o.queue, o.queue[n:])
	clear(o.queue[left:])
	o.queue = o.queue[:left]
	if left == 0 && cap(o.queue) > 2*maxBatch {
		o.queue = nil
	}
}

// Lose takes out and returns all that waits, since the connection has ended; what must
// arrive is kept for the next one as well.
func (o *Outbox) Lose() []*Task {
	lost := o.queue
	for _, t := range lost {
		o.RollbackEnded(t)
		if t.MustDeliver() {
			o.AddRetry(t)
		}
	}
	o.queue, o.bytes = nil, 0
	return lost
}

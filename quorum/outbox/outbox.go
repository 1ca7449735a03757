package outbox

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// Bounds on what waits for one master (M1). Releases and rollbacks have the
// second half for themselves.
const (
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
	Pace  Pace
	// retries must still be carried out; flush is whether that is to be tried.
	retries    map[Name]*Task
	retryBytes int
	flush      bool
	purged     time.Duration
	// undoing are the rollbacks that wait or are under way, and how often.
	undoing map[Name]int
}

// NewOutbox makes an empty one; enough is called when the wait for a larger batch is over.
func NewOutbox(now clock.Clock, timeout time.Duration, enough func()) Outbox {
	return Outbox{now: now, Pace: newPace(timeout, enough), retries: map[Name]*Task{}, undoing: map[Name]int{}}
}

// Put adds a task, and reports whether the sender wants to know. What this redlockd
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

// Waits is how many tasks wait, and about how many bytes they take.
func (o *Outbox) Waits() (tasks, bytes int) { return len(o.queue), o.bytes }

// append puts a task behind all others.
func (o *Outbox) append(t *Task) {
	if t.Rollback {
		o.undoing[t.name()]++
	}
	o.queue = append(o.queue, t)
	o.bytes += t.size()
}

// Crowded reports whether as much waits as may, or so many times as much.
func (o *Outbox) Crowded(times int) bool {
	return len(o.queue) >= times*MaxQueued || o.bytes >= times*MaxQueuedBytes
}

// Next are the tasks of the next batch. They still wait until they are removed.
func (o *Outbox) Next() []*Task { return o.queue[:min(len(o.queue), maxBatch)] }

// Remove takes the first n tasks out. The others move to the front, so that the same
// memory serves all batches.
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

// Lose takes out all that waits, since the connection has ended; what must arrive is
// kept for the next one.
func (o *Outbox) Lose() []*Task {
	lost := o.queue
	for _, t := range lost {
		o.Undone(t)
		if t.MustDeliver() {
			o.AddRetry(t)
		}
	}
	o.queue, o.bytes = nil, 0
	return lost
}

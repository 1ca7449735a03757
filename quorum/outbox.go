package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// Bounds on what waits for one master (M1). Releases and rollbacks have the
// second half for themselves.
const (
	maxQueued      = 8192
	maxQueuedBytes = 16 << 20
	// maxBatch bounds the tasks of one write.
	maxBatch = 512
	// maxRetries bounds what is kept for the next connection; beyond it the
	// copies end with their hold.
	maxRetries    = 65536
	maxRetryBytes = 32 << 20
)

// outbox is what waits for one master: tasks in the order in which they are sent,
// how long the next batch of them waits (pace.go), and what is to be repeated, over
// this or the next connection (retries.go, changed.go). It does not know the master
// or whether that may be asked, so all of it can be tested without one. Not safe for
// concurrent use: whether a task may wait here and what the master's mark is go
// together (M3), so the link's mutex is held for both.
type outbox struct {
	now   clock.Clock
	queue []*task
	bytes int
	pace  pace
	// retries must still be carried out; due is whether that is to be tried.
	retries    map[retryKey]*task
	retryBytes int
	due        bool
	purged     time.Duration
	// undoing are the rollbacks that wait or are under way, and how often.
	undoing map[retryKey]int
}

func newOutbox(now clock.Clock, p pace) outbox {
	return outbox{now: now, pace: p, retries: map[retryKey]*task{}, undoing: map[retryKey]int{}}
}

// put adds a task, and reports whether the sender wants to know. What this redlockd
// takes now must not be freed by a release that it was asked for before (V8): that
// goes first.
func (o *outbox) put(t *task) bool {
	if len(o.retries) > 0 {
		for _, name := range t.locks() {
			if before := o.takeRetry(name); before != nil {
				o.append(before)
			}
		}
	}
	o.append(t)
	return o.pace.wakes(len(o.queue))
}

// append puts a task behind all others.
func (o *outbox) append(t *task) {
	if t.rollback {
		o.undoing[t.name()]++
	}
	o.queue = append(o.queue, t)
	o.bytes += t.size()
}

// crowded reports whether as much waits as may, or so many times as much.
func (o *outbox) crowded(times int) bool {
	return len(o.queue) >= times*maxQueued || o.bytes >= times*maxQueuedBytes
}

// remove takes the first n tasks out. The others move to the front, so that the same
// memory serves all batches.
func (o *outbox) remove(n int) {
	left := copy(o.queue, o.queue[n:])
	clear(o.queue[left:])
	o.queue = o.queue[:left]
	if left == 0 && cap(o.queue) > 2*maxBatch {
		o.queue = nil
	}
}

// lose takes out all that waits, since the connection has ended; what must arrive is
// kept for the next one.
func (o *outbox) lose() []*task {
	lost := o.queue
	for _, t := range lost {
		o.undone(t)
		if t.mustDeliver() {
			o.addRetry(t)
		}
	}
	o.queue, o.bytes = nil, 0
	return lost
}

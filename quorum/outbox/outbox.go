package outbox

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// Bounds on what waits for one master (M1). They apply to all tasks but releases, rollbacks
// and repeats, of which twice as much may wait (Crowded).
const (
	// MaxQueued is in tasks, MaxQueuedBytes about in bytes.
	MaxQueued      = 8192
	MaxQueuedBytes = 16 << 20
	// maxBatch bounds the tasks of one write.
	maxBatch = 512
	// maxKept bounds the tasks that are kept until they are delivered; beyond it the copies
	// end with their hold.
	maxKept      = 65536
	maxKeptBytes = 32 << 20
)

// Outbox is what waits for one master: tasks in the order in which they are sent, how
// long the next batch of them waits (pace.go), and tasks that are kept until they are delivered,
// over this or the next connection (kept.go). It does not know the master or
// whether it may be asked, so all of it can be tested without one. Not safe for
// concurrent use: the link's mutex is held for all of it, because it also guards the
// mark, on which it depends whether a task may be put in (M3).
type Outbox struct {
	now   clock.Clock
	queue []*Task
	bytes int
	// Pace determines when the next batch goes out.
	Pace Pace
	// kept are the tasks that must still be delivered, of each key. flush reports whether to send
	// them now. purged is when useless ones were last dropped.
	kept                 map[string][]*Task
	keptTasks, keptBytes int
	flush                bool
	purged               time.Duration
}

// NewOutbox returns an empty outbox for a link with this timeout (V2). enough is
// called, in a goroutine of its own, when the wait for a larger batch has lasted for
// the patience of the Pace; it must stop the Pace and wake the sender.
func NewOutbox(now clock.Clock, timeout time.Duration, enough func()) Outbox {
	return Outbox{now: now, Pace: newPace(timeout, enough), kept: map[string][]*Task{}}
}

// Put adds a task, and reports whether the sender must be woken. What is kept of its keys goes
// first, so that it changes nothing that the task has counted (V8).
func (o *Outbox) Put(t *Task) bool {
	if o.keptTasks > 0 {
		for _, key := range t.keys() {
			for _, before := range o.takeKept(key) {
				o.append(before)
			}
		}
	}
	o.append(t)
	return o.Pace.wakes(len(o.queue))
}

// Queued returns how many tasks wait to be sent, and about how many bytes they take.
func (o *Outbox) Queued() (tasks, bytes int) { return len(o.queue), o.bytes }

// append puts a task behind all others.
func (o *Outbox) append(t *Task) {
	o.queue = append(o.queue, t)
	o.bytes += t.size()
}

// Crowded reports whether what waits has reached its bounds, multiplied by times.
func (o *Outbox) Crowded(times int) bool {
	return len(o.queue) >= times*MaxQueued || o.bytes >= times*MaxQueuedBytes
}

// Next returns the tasks of the next batch, in order. They stay in the outbox until
// Remove, and the slice is valid until then.
func (o *Outbox) Next() []*Task { return o.queue[:min(len(o.queue), maxBatch)] }

// Remove takes out the first n tasks. The others move to the front, so that all batches
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

// Lose takes out and returns all tasks that wait, since the connection has ended. Those
// that must be delivered are also kept for the next connection.
func (o *Outbox) Lose() []*Task {
	lost := o.queue
	o.KeepFirst(slices.DeleteFunc(slices.Clone(lost), func(t *Task) bool { return !t.MustDeliver }))
	o.queue, o.bytes = nil, 0
	return lost
}

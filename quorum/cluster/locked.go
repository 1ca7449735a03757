package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/outbox"
)

// Locked is a link whose mutex is held, for a Preparer: all that a task is made of must
// fit together. It must not be used after Prepare has returned.
type Locked struct{ link *Link }

// Watch returns what is known of the master's clock.
func (l Locked) Watch() *clock.Watch { return l.link.clock }

// Outbox returns the tasks that wait for the master in this database.
func (l Locked) Outbox() *outbox.Outbox { return &l.link.outbox }

// Latest returns the latest possible reading of the master's clock now, in its own
// milliseconds (V6); false where the clock is not known, or the master may not be asked
// to hold a lock for hold (M3).
func (l Locked) Latest(hold, now time.Duration) (int64, bool) { return l.link.latest(hold, now) }

// Deadline returns the latest reading of the master's clock, in its own milliseconds, at
// which a script may act, for an attempt whose time is over at until, by our clock (V6).
func (l Locked) Deadline(until time.Duration) int64 { return l.link.deadline(until) }

// Earliest returns the earliest possible reading of the master's clock now, in its own
// milliseconds.
func (l Locked) Earliest(now time.Duration) int64 { return l.link.clock.Earliest(now) }

package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
)

// Locked is a link whose mutex is held: what a task is made of must fit together.
type Locked struct{ l *Link }

// View is what the marks say of the master.
func (d Locked) View() *mark.View { return &d.l.view }

// Watch is what is known of the master's clock.
func (d Locked) Watch() *clock.Watch { return d.l.clock }

// Outbox is what waits for the master.
func (d Locked) Outbox() *outbox.Outbox { return &d.l.outbox }

// Latest is the latest possible reading of the master's clock now (V6); false where the
// master may not be asked to hold a lock for hold.
func (d Locked) Latest(hold, now time.Duration) (int64, bool) { return d.l.latest(hold, now) }

// Deadline is the latest reading of the master's clock at which a script may act whose
// attempt's time is over then, by our clock (V6).
func (d Locked) Deadline(until time.Duration) int64 { return d.l.deadline(until) }

// Residue is by what this redlockd names its attempts on the master; false while it
// has no claim that it can trust (V6).
func (d Locked) Residue(now time.Duration) (int64, bool) { return d.l.residue(now) }

// LapsedBy is the least expiry of a copy that had more than unused left at a time that
// is over, or 0 where the master's clock is not known (V15).
func (d Locked) LapsedBy(at, unused time.Duration) int64 { return d.l.lapsedBy(at, unused) }

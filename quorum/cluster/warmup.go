package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// warmingUp returns how much longer other instances may take to record a step in the mark
// that s shows; 0 if they must have done so before s.
func (mon *monitor) warmingUp(s mark.Observation) time.Duration {
	return mon.clock.WarmingUp(s.Sent, clock.WarmUpTime(mon.db.agreed.Greatest().Timeout))
}

// couldNotWrite notes that the mark that s shows could not be written. Where others are
// waited for, which may have seen a step, it has a doubt recorded as soon as it can be: they
// may be gone by then (M5).
func (mon *monitor) couldNotWrite(s mark.Observation) {
	if mon.clock.Unwritable() && s.Mark != nil {
		mon.doubt(s.Mark.Greatest)
	}
}

package cluster

import (
	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// othersRecord reports whether so many other marks record own as this master's seat that
// every majority includes one of them. A positive result is remembered. Only marks that were
// looked at in the last two seconds count: one may be lost before another is written.
func (mon *monitor) othersRecord(own mark.Seat) bool {
	mon.mu.Lock()
	known := mon.view.Standing.RecordedSeat.Same(own)
	mon.mu.Unlock()
	if known {
		return true
	}
	recorded := mon.db.change.heldByMarks(mon.hash, func(other *Link) bool {
		st := &other.view.Standing
		return st.Seats[mon.hash].Same(own) && mon.now()-st.Last <= 2*clock.LookEvery
	})
	if recorded {
		mon.mu.Lock()
		mon.view.Standing.RecordedSeat = own
		mon.mu.Unlock()
	}
	return recorded
}

package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// othersRecord reports whether so many other marks record own as this master's seat that
// every majority includes one of them. A positive result is remembered. They must have
// recorded it at one time: one may be lost before another is written. So each was seen to
// record it, and seen again after the last one was; that look is asked for.
func (mon *monitor) othersRecord(own mark.Seat) bool {
	mon.mu.Lock()
	known := mon.view.Standing.RecordedSeat.Same(own)
	mon.mu.Unlock()
	if known {
		return true
	}
	since, again := time.Duration(0), mon.now()
	enough := mon.db.change.heldByMarks(mon.hash, func(other *Link) bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		st := &other.view.Standing
		if !st.Seats[mon.hash].Same(own) || mon.now()-st.Last > 2*clock.LookEvery {
			return false
		}
		since, again = max(since, st.SeatsSince), min(again, st.Last)
		return true
	})
	recorded := enough && again > since
	if enough && !recorded {
		mon.wakeAll()
	}
	if recorded {
		mon.mu.Lock()
		mon.view.Standing.RecordedSeat = own
		mon.mu.Unlock()
	}
	return recorded
}

package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// What a link makes of its master's clock (package clock).

// sawClock takes a look at the master's clock, in microseconds, and returns
// whether it fits to those of before (M5). Needs mu.
func (l *Link) sawClock(micros int64, sent, received time.Duration) bool {
	keep := l.db.agreed.Greatest().Hold
	if l.view.Under != nil {
		keep = max(l.view.Under.Greatest, time.Second)
	}
	var zero *clock.Watch
	if l.zero != nil {
		zero = l.zero.clock
	}
	fits, news := l.clock.Saw(micros, sent, received, keep, zero)
	if news {
		l.wakeMonitor()
	}
	return fits
}

// deadline is the latest reading of the master's clock at which a script may act
// whose attempt's time is over at until, by our clock. It is counted from the
// earliest possible reading, so that none acts after that and the grace (V6).
// Needs mu.
func (l *Link) deadline(until time.Duration) int64 {
	d := l.clock.Earliest(until+l.cfg.Grace()) - 1
	if l.Embedded {
		// Its clock is driven by this process, and jumps when that stands still.
		d += time.Second.Milliseconds()
	}
	return d
}

// lapsedBy is the least expiry of a copy that had more than unused left at a
// time that is over, or 0 where the master's clock is not known. Needs mu.
func (l *Link) lapsedBy(at, unused time.Duration) int64 {
	now := l.now()
	if _, ok := l.clock.Latest(now); !ok {
		return 0
	}
	ago := ceilMillis(time.Duration(float64(now-at) * (1 + l.cfg.ClockDrift)))
	return l.clock.Earliest(now) - ago.Milliseconds() + unused.Milliseconds()
}

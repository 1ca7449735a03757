package cluster

import "time"

// How a link reads its master's clock (package clock).

// sawClock records a reading of the master's clock, in microseconds, and reports whether
// it fits the earlier ones (M5). The caller must hold mu.
func (l *Link) sawClock(micros int64, sent, received time.Duration) bool {
	keep := l.db.agreed.Greatest().Hold
	if l.view.Under != nil {
		keep = max(l.view.Under.Greatest, time.Second)
	}
	fits, news := l.clock.Saw(micros, sent, received, keep)
	if news {
		l.wakeMonitor()
	}
	return fits
}

// exact returns the longest round trip by which a step of the clock shows that the padding of
// a living lock does not cover. Another instance with a shorter timeout may have granted it.
func (l *Link) exact() time.Duration {
	return min(l.cfg.Timeout, l.db.agreed.LeastPadding()/2)
}

// deadline returns the latest reading of the master's clock at which a script may act,
// for an attempt whose time is over at until, by our clock. It is counted from the
// earliest possible reading, so that no script acts after until and the grace (V6). The
// caller must hold mu.
func (l *Link) deadline(until time.Duration) int64 {
	d := l.clock.Earliest(until+l.cfg.Grace()) - 1
	if l.Embedded {
		// Its clock is driven by this process, and jumps when the process stands still.
		d += time.Second.Milliseconds()
	}
	return d
}

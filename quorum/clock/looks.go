package clock

import (
	"math"
	"time"
)

// LookAge is the greatest age at which a look at a master's clock is used (V6).
const LookAge = 2 * time.Second

// looks bounds the latest and the earliest possible reading of a master's clock by the
// looks of the last two seconds (V6). Not safe for concurrent use.
type looks struct {
	drift float64
	// Two windows of a second each: the present one and the one before. Each keeps the
	// least intercept of the latest possible reading and the greatest of the earliest,
	// see add.
	least [2]float64
	most  [2]float64
	began [2]time.Duration
	any   bool
}

// add takes a reading of the master's clock, in milliseconds, that was asked for at sent
// and arrived at received, by our clock.
func (l *looks) add(reading int64, sent, received time.Duration) {
	// The clock cannot be ahead of reading + (now-sent) x (1+drift), so of several looks
	// the one with the least reading - sent x (1+drift) wins.
	intercept := float64(reading) - millis(sent)*(1+l.drift)
	// Nor can it be behind the reading plus the time since it arrived, less the drift.
	// The reading was rounded up, so 1 ms is subtracted; here the greatest wins.
	behind := float64(reading-1) - millis(received)*(1-l.drift)
	if !l.any || sent-l.began[0] >= LookAge/2 {
		l.least[1], l.most[1], l.began[1] = l.least[0], l.most[0], l.began[0]
		if !l.any {
			l.least[1], l.most[1] = math.Inf(1), math.Inf(-1)
		}
		l.least[0], l.most[0], l.began[0], l.any = intercept, behind, sent, true
	}
	l.least[0] = min(l.least[0], intercept)
	l.most[0] = max(l.most[0], behind)
}

// latest returns the latest possible reading of the clock now, in milliseconds, and
// whether there was a look in the last two seconds.
func (l *looks) latest(now time.Duration) (int64, bool) {
	if !l.any || now-l.began[0] > LookAge {
		return 0, false
	}
	least := l.least[0]
	if now-l.began[1] <= LookAge {
		least = min(least, l.least[1])
	}
	return int64(math.Ceil(least + millis(now)*(1+l.drift))), true
}

// earliest returns the earliest possible reading of the clock at a time, now or later, in
// milliseconds.
func (l *looks) earliest(at time.Duration) int64 {
	most := l.most[0]
	if at-l.began[1] <= LookAge {
		most = max(most, l.most[1])
	}
	return int64(math.Floor(most + millis(at)*(1-l.drift)))
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

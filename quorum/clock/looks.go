package clock

import (
	"math"
	"time"
)

// LookAge is the greatest age at which a look at a master's clock is used (V6).
const LookAge = 2 * time.Second

// reading is a reading of a master's clock, in milliseconds, that was asked for at sent and
// arrived at received, by our clock.
type reading struct {
	ms             float64
	sent, received time.Duration
}

// bounds keep the latest and the earliest possible reading of a master's clock by the readings
// of one to two spans of time: of two seconds for expiries and deadlines (V6), of the last
// greatest hold to see a step (M5). Not safe for concurrent use.
type bounds struct {
	drift float64
	// Two windows of a span each: the present one and the one before. Each keeps the
	// least intercept of the latest possible reading and the greatest of the earliest,
	// see add.
	least [2]float64
	most  [2]float64
	began [2]time.Duration
	any   bool
}

// add takes a reading.
func (b *bounds) add(r reading, span time.Duration) {
	// The clock cannot be ahead of reading + (now-sent) x (1+drift), so of several readings
	// the one with the least reading - sent x (1+drift) wins.
	intercept := r.ms - millis(r.sent)*(1+b.drift)
	// Nor can it be behind the reading plus the time since it arrived, less the drift. Here
	// the greatest wins.
	behind := r.ms - millis(r.received)*(1-b.drift)
	if !b.any || r.sent-b.began[0] >= span {
		b.least[1], b.most[1], b.began[1] = b.least[0], b.most[0], b.began[0]
		if !b.any {
			b.least[1], b.most[1] = math.Inf(1), math.Inf(-1)
		}
		b.least[0], b.most[0], b.began[0], b.any = intercept, behind, r.sent, true
	}
	b.least[0] = min(b.least[0], intercept)
	b.most[0] = max(b.most[0], behind)
}

// latest returns the latest possible reading of the clock now, in milliseconds, and
// whether there was a look in the last two seconds.
func (b *bounds) latest(now time.Duration) (int64, bool) {
	if !b.any || now-b.began[0] > LookAge {
		return 0, false
	}
	least := b.least[0]
	if now-b.began[1] <= LookAge {
		least = min(least, b.least[1])
	}
	return int64(math.Ceil(least + millis(now)*(1+b.drift))), true
}

// earliest returns the earliest possible reading of the clock at a time, now or later, in
// milliseconds.
func (b *bounds) earliest(at time.Duration) int64 {
	most := b.most[0]
	if at-b.began[1] <= LookAge {
		most = max(most, b.most[1])
	}
	return int64(math.Floor(most + millis(at)*(1-b.drift)))
}

// jumped returns by how much the clock jumped before a reading, beyond what all that are
// remembered allow: the time since each x drift, and Step.
func (b *bounds) jumped(r reading) Jump {
	age := millis(r.received)*b.drift + Step
	return Jump{least: r.ms - millis(r.received) - age - min(b.least[0], b.least[1]),
		most: r.ms - millis(r.sent) + age - max(b.most[0], b.most[1])}
}

// allow reports whether a reading shows no jump.
func (b *bounds) allow(r reading) bool {
	j := b.jumped(r)
	return !b.any || j.least <= 0 && j.most >= 0
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

package clock

import (
	"math/rand/v2"
	"testing"
	"time"
)

// V6: the latest possible reading is never behind a clock that runs fast by nearly the
// whole drift, and never far ahead of any clock within the drift.
func TestLatestPossibleReading(t *testing.T) {
	for range 500 {
		l := bounds{drift: 0.01}
		speed := 1 + (rand.Float64()*2-1)*0.009
		now := time.Duration(0)
		clock := func(at time.Duration) float64 { return 1e12 + millis(at)*speed }
		for range 50 {
			now += time.Duration(rand.Int64N(int64(900 * time.Millisecond)))
			sent := now
			there := sent + time.Duration(rand.Int64N(int64(20*time.Millisecond)))
			now = there + time.Duration(rand.Int64N(int64(20*time.Millisecond)))
			l.add(reading{clock(there), sent, now}, LookAge/2)
			later := now + time.Duration(rand.Int64N(int64(900*time.Millisecond)))
			latest, ok := l.latest(later)
			if !ok {
				t.Fatalf("no reading %v after a look", later-sent)
			}
			if truth := clock(later); float64(latest) < truth || float64(latest) > truth+80 {
				t.Fatalf("latest possible reading is %d, the clock tells %.1f", latest, truth)
			}
		}
		if _, ok := l.latest(now + LookAge + time.Millisecond); ok {
			t.Fatal("an old look still counts")
		}
	}
}

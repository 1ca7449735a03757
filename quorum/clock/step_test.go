package clock

import (
	"math/rand/v2"
	"testing"
	"time"
)

// M5: the bounds allow any clock within the drift, and detect a step beyond it, whatever
// the round trips.
func TestM5StepBeyondTheDrift(t *testing.T) {
	for i := range 300 {
		drift := []float64{0.01, 0.0001}[i%2]
		b := bounds{drift: drift}
		speed := 1 + (rand.Float64()*2-1)*0.9*drift
		now, step := time.Duration(0), 0.0
		look := func() reading {
			sent := now
			there := sent + time.Duration(rand.Int64N(int64(5*time.Millisecond)))
			now = there + time.Duration(rand.Int64N(int64(5*time.Millisecond)))
			return reading{1e9 + millis(there)*speed + step, sent, now}
		}
		for range 60 {
			n := look()
			if !b.allow(n) {
				t.Fatalf("a clock of speed %f is taken to have stepped after %v", speed, now)
			}
			b.add(n, 20*time.Second)
			now += time.Duration(rand.Int64N(int64(time.Second)))
		}
		step = 40 + rand.Float64()*1e5
		if rand.IntN(2) == 0 {
			step = -step
		}
		if b.allow(look()) {
			t.Fatalf("a step of %f ms is not seen", step)
		}
	}
}

// M5: a reading is compared with all of the span before, in the window that has just begun and
// in the one before it.
func TestM5StepInBothWindows(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		at := time.Duration(0)
		look := func(ahead float64) reading {
			at += time.Second
			return reading{1e9 + millis(at) + sign*ahead, at, at}
		}
		for _, before := range [][]float64{{0, 0, 1.9}, {1.9, 0}, {0, 1.9}} {
			b := bounds{drift: 0.0001}
			for _, ahead := range before {
				b.add(look(ahead), 2*time.Second)
			}
			if !b.allow(look(1.9)) || b.allow(look(3.8)) {
				t.Errorf("after readings ahead by %v ms x %v, one of 1.9 is not allowed, or one of 3.8 is", before, sign)
			}
		}
	}
}

// M5: a clock was not watched if it was not looked at for so long that it may have
// drifted by more than half a timeout: the other half is for the round trips.
func TestM5Watched(t *testing.T) {
	for _, tt := range []struct {
		ago     time.Duration
		drift   float64
		timeout time.Duration
		want    bool
	}{
		{2400 * time.Millisecond, 0.01, 50 * time.Millisecond, true},
		{2600 * time.Millisecond, 0.01, 50 * time.Millisecond, false},
		{9 * time.Second, 0.01, 200 * time.Millisecond, true},
		{11 * time.Second, 0.01, 200 * time.Millisecond, false},
		{2 * LookEvery, 0.1, time.Millisecond, true}, // it is looked at once a second
	} {
		if got := Watched(tt.ago, tt.drift, tt.timeout); got != tt.want {
			t.Errorf("looked at %v ago, drift %v, timeout %v: watched %v, want %v", tt.ago, tt.drift, tt.timeout, got, tt.want)
		}
	}
}

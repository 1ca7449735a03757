package clock

import (
	"math/rand/v2"
	"testing"
	"time"
)

// M5: the offsets allow any clock within the drift, and detect a step beyond it, whatever
// the round trips.
func TestM5Offsets(t *testing.T) {
	for range 300 {
		o := offsets{drift: 0.01}
		speed := 1 + (rand.Float64()*2-1)*0.009
		now, step := time.Duration(0), 0.0
		look := func() offset {
			sent := now
			there := sent + time.Duration(rand.Int64N(int64(5*time.Millisecond)))
			now = there + time.Duration(rand.Int64N(int64(5*time.Millisecond)))
			return newOffset(int64(1e12+millis(there)*1000*speed+step*1000), sent, now)
		}
		for range 60 {
			n := look()
			if !o.within(n) {
				t.Fatalf("a clock of speed %f is taken to have stepped after %v", speed, now)
			}
			o.add(n, 20*time.Second)
			now += time.Duration(rand.Int64N(int64(time.Second)))
		}
		step = 40 + rand.Float64()*1e5
		if rand.IntN(2) == 0 {
			step = -step
		}
		if o.within(look()) {
			t.Fatalf("a step of %f ms is not seen", step)
		}
		if len(o.entries) > 25 {
			t.Fatalf("%d offsets are kept of 20s", len(o.entries))
		}
	}
}

// M5: the baseline of a long time is kept in few offsets.
func TestM5OffsetsOfLongAgo(t *testing.T) {
	o := offsets{drift: 0.01}
	for at := time.Duration(0); at < 3*time.Hour; at += time.Second {
		o.add(offset{low: 1, high: 2, sent: at, received: at}, 2*time.Hour)
	}
	if n := len(o.entries); n > 1200 || n < 1000 {
		t.Errorf("%d offsets are kept", n)
	}
	if age := 3*time.Hour - o.entries[0].sent; age < 119*time.Minute || age > 121*time.Minute {
		t.Errorf("the oldest is of %v ago", age)
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

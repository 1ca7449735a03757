package clock

import (
	"testing"
	"time"
)

// M1: a process that stood still takes no master for frozen until it has had the time to
// read what came meanwhile.
func TestM1OwnPauseIsNobodysFreeze(t *testing.T) {
	var p StallDetector
	p.last.Store(int64(time.Second))
	for _, c := range []struct {
		at   time.Duration
		want bool
	}{
		{time.Second + stallCheckEvery, false},
		{time.Second + stallCheckEvery + stallCheckLate, false},
		{time.Second + 300*time.Millisecond, true},
	} {
		if got := p.StoodStill(c.at); got != c.want {
			t.Errorf("stood still at %v: %v, want %v", c.at, got, c.want)
		}
	}
	p.grace.Store(int64(2 * time.Second))
	p.last.Store(int64(2 * time.Second))
	if !p.StoodStill(2*time.Second - 1) {
		t.Error("no time to read")
	}
	if p.StoodStill(2*time.Second + stallCheckEvery) {
		t.Error("stood still for ever")
	}
}

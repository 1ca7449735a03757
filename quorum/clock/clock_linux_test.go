package clock

import (
	"testing"
	"time"
)

// V2: the clock runs on while the host is suspended, whatever the wall clock is set to. Only
// where the wall clock was moved is CLOCK_BOOTTIME read.
func TestBootTime(t *testing.T) {
	for _, c := range []struct {
		name           string
		suspended, set time.Duration
		readings       int
	}{
		{"awake", 0, 0, 1},
		{"suspended", 3 * time.Second, 0, 2},
		{"suspended for a moment", 2 * time.Millisecond, 0, 2},
		{"the wall clock set forward", 0, time.Hour, 2},
		{"the wall clock set back", 0, -time.Hour, 2},
		{"suspended, the wall clock set back", time.Minute, -time.Hour, 2},
		{"suspended, the wall clock set forward", time.Minute, time.Hour, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var awake, slept, set time.Duration
			readings := 0
			clock := newBootTime(
				func() time.Duration { readings++; awake += time.Microsecond; return time.Minute + awake + slept },
				func() (wall, monotonic time.Duration) { return time.Hour + awake + slept + set, awake })
			before := clock.now()
			awake += time.Second
			slept, set = c.suspended, c.set
			for range 2 {
				want := time.Second + c.suspended
				if passed := clock.now() - before; passed < want || passed > want+10*time.Microsecond {
					t.Errorf("%v has passed, want %v", passed, want)
				}
			}
			if readings != c.readings {
				t.Errorf("%d readings of CLOCK_BOOTTIME, want %d", readings, c.readings)
			}
		})
	}
}

// A goroutine that is stopped between two clocks takes no suspension for granted.
func TestBootTimeStopped(t *testing.T) {
	var awake, set time.Duration
	stops := 2
	clock := newBootTime(
		func() time.Duration {
			if set != 0 && stops > 0 {
				stops--
				awake += time.Second
			}
			return awake
		},
		func() (wall, monotonic time.Duration) { return awake + set, awake })
	set = time.Hour
	if now := clock.now(); now != awake || stops != 0 {
		t.Errorf("%v after %v, %d stops left", now, awake, stops)
	}
}

// A CLOCK_BOOTTIME that cannot be read, and stands at 0, leaves the monotonic clock.
func TestBootTimeMissing(t *testing.T) {
	var awake, set time.Duration
	clock := newBootTime(func() time.Duration { return 0 },
		func() (wall, monotonic time.Duration) { return awake + set, awake })
	for _, step := range []time.Duration{0, time.Hour, -time.Hour} {
		before := clock.now()
		awake, set = awake+time.Second, step
		if passed := clock.now() - before; passed != time.Second {
			t.Errorf("%v has passed while the wall clock was set by %v, want 1s", passed, step)
		}
	}
}

// BenchmarkSystem is what a reading costs.
func BenchmarkSystem(b *testing.B) {
	clock := System()
	for b.Loop() {
		clock()
	}
}

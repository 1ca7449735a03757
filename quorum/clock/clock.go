package clock

import "time"

// Clock returns the time that has passed since some fixed moment. It is monotonic and,
// where the system has such a clock, runs on while the host sleeps (V2). Tests replace it
// by virtual time.
type Clock func() time.Duration

// Monotonic returns Go's own monotonic clock, which stands still while the host is
// suspended.
func Monotonic() Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

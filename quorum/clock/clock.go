package clock

import "time"

// Clock tells the time that has passed since some fixed moment: monotonic,
// and running on while the host sleeps where the system has such a clock
// (V2). Tests replace it by virtual time.
type Clock func() time.Duration

// Monotonic is Go's own monotonic clock, which stands still while the host
// is suspended.
func Monotonic() Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

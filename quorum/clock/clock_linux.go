package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// System is CLOCK_BOOTTIME, which keeps running through suspension.
func System() Clock {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return Monotonic()
	}
	return func() time.Duration {
		var now unix.Timespec
		// Cannot fail: it was there a moment ago, and the pointer is good.
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
		return time.Duration(now.Nano())
	}
}

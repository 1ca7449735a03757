package cluster

import (
	"cmp"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// Padding is what the hold of a lock has beyond its TTL, apart from drift: one timeout
// from the attempt's first byte to the reply's last, and one for a clock step that no
// redlockd can see (V2, V3). Earlier attempts, such as those that were split, need none:
// each attempt has a hold of its own.
func (c *Config) Padding() time.Duration { return 2 * c.Timeout }

// Drift returns the allowance for clocks that run at different rates: padded, which is
// TTL + padding, x ClockDrift + 2 ms, rounded up to milliseconds (V3).
func (c *Config) Drift(padded time.Duration) time.Duration {
	return ceilMillis(time.Duration(float64(padded)*c.ClockDrift) + 2*time.Millisecond)
}

// Hold returns how long masters keep a lock with this TTL. padding is the greatest
// padding of all redlockd that use the masters (V3).
func (c *Config) Hold(ttl, padding time.Duration) time.Duration {
	return ttl + padding + c.Drift(ttl+padding)
}

// Remaining returns how much of its TTL a client may still rely on when a master reports
// that left remains of a hold with this padding. It is never more than the TTL, since
// everything that may have made the hold longer is subtracted (V3). It may be negative.
func (c *Config) Remaining(left, padding time.Duration) time.Duration {
	// Besides Drift's own 2 ms: the rounding of Drift, of the reading, of its latest
	// possible value, and one more.
	const rounding = 4 * time.Millisecond
	left -= 2*time.Millisecond + rounding + c.LookSlack()
	ttl := time.Duration(float64(left)/(1+c.ClockDrift)) - padding
	return ttl.Truncate(time.Millisecond)
}

// Unused returns the least time that a copy with this padding has left while its client
// may still rely on the lock. timeout is the greatest in use: the client was answered
// within it (V2). A copy with less time left is over.
func (c *Config) Unused(padding, timeout time.Duration) time.Duration {
	return max(0, time.Duration(float64(padding-timeout)*(1+c.ClockDrift))).Truncate(time.Millisecond)
}

// LookSlack is the most that the latest possible reading of a master's clock may run
// ahead of that clock, not counting a round trip.
func (c *Config) LookSlack() time.Duration {
	return ceilMillis(time.Duration(float64(clock.LookAge) * c.ClockDrift))
}

// Grace is the most that the earliest possible reading of a master's clock may be behind
// that clock, not counting the way back. A script may act this much after its attempt's
// time, so that the bound loses no vote that comes in time (V6).
func (c *Config) Grace() time.Duration { return c.LookSlack() + 3*time.Millisecond }

// Stay bounds the time from an operation's arrival to the end of its last attempt (V2,
// V5).
func (c *Config) Stay() time.Duration { return c.Timeout + c.RetryBudget }

// FloorHold is the most that a cluster's floor can be: the greatest hold that is granted
// once a quorum of the marks records it. A greater hold must first have been recorded in
// all marks at one time, so that any master that survives can report it (M3). It is the
// hold of a TTL of five minutes, with room for padding and drift: such locks never wait
// for a master that is down.
const FloorHold = 6 * time.Minute

// maxFloor returns FloorHold, or LowFloor in tests that set it.
func (c *Config) maxFloor() time.Duration { return cmp.Or(c.LowFloor, FloorHold) }

// RoundHold rounds a hold up to 1, 2 or 5 times a power of ten milliseconds, or to
// FloorHold, so that marks are seldom written (M3).
func RoundHold(h time.Duration) time.Duration {
	if h > 200*time.Second && h <= FloorHold {
		return FloorHold
	}
	for unit := time.Millisecond; ; unit *= 10 {
		for _, f := range []time.Duration{1, 2, 5} {
			if h <= f*unit {
				return f * unit
			}
		}
	}
}

// ExpiryOf returns the expiry of a hold, in milliseconds by the master's own clock.
// latest is the latest possible reading of that clock now.
func ExpiryOf(latest int64, hold time.Duration) int64 {
	return latest + ceilMillis(hold).Milliseconds()
}

func ceilMillis(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

// Settings returns the settings of this redlockd that its marks record.
func (c *Config) Settings() mark.Settings {
	return mark.Settings{Hold: c.Hold(c.MaxTTL, c.Padding()), Timeout: ceilMillis(c.Timeout), Padding: ceilMillis(c.Padding())}
}

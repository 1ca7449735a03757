package cluster

import (
	"cmp"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// ExpirySpread is what an expiry gets at most beyond the hold for its remainder (V6).
const ExpirySpread = (mark.Residues - 1) * time.Millisecond

// MaxNames is how many expiries are tried at most for one that no other attempt
// has, beyond what the master's mark bears.
const MaxNames = 8

// NameSlack is what an expiry may get beyond ExpirySpread: to be unique, and another
// remainder, where a later one stays as it is (package scripts).
const NameSlack = MaxNames*mark.Residues*time.Millisecond + ExpirySpread

// Padding is what the hold of a lock has beyond its TTL, drift apart: one
// timeout from the attempt's first byte to the reply's last, and one for a clock
// step that nobody sees (V2, V3). What comes before the attempt that wins, such as
// others that were split, needs none: each attempt has a hold of its own.
func (c *Config) Padding() time.Duration { return 2 * c.Timeout }

// Drift is the allowance for clocks that run at different rates: padded, which is TTL +
// padding, x ClockDrift + 2 ms, rounded up to milliseconds (V3).
func (c *Config) Drift(padded time.Duration) time.Duration {
	return ceilMillis(time.Duration(float64(padded)*c.ClockDrift) + 2*time.Millisecond)
}

// Hold is what the masters are given for a TTL, with the greatest padding of all
// redlockd that use them (V3).
func (c *Config) Hold(ttl, padding time.Duration) time.Duration {
	return ttl + padding + c.Drift(ttl+padding)
}

// Remaining is what a client may still rely on when a master says that left
// of a hold with this padding remains: never more than the TTL it asked for, since all that
// may have made the hold longer is taken off (V3). It may be negative.
func (c *Config) Remaining(left, padding time.Duration) time.Duration {
	// Beside Drift's own 2 ms: the rounding of Drift, of the reading, of its
	// latest possible value, and one more.
	const rounding = 4 * time.Millisecond
	left -= 2*time.Millisecond + rounding + ExpirySpread + c.LookSlack()
	ttl := time.Duration(float64(left)/(1+c.ClockDrift)) - padding
	return ttl.Truncate(time.Millisecond)
}

// Unused is what a copy of a lock that got this padding has left at least while
// its client may count on the lock, which was told within the greatest timeout in
// use (V2): what has less is over.
func (c *Config) Unused(padding, timeout time.Duration) time.Duration {
	return max(0, time.Duration(float64(padding-timeout)*(1+c.ClockDrift))).Truncate(time.Millisecond)
}

// LookSlack is by how much the latest possible reading of a master's clock
// may run ahead of it, a round trip apart.
func (c *Config) LookSlack() time.Duration {
	return ceilMillis(time.Duration(float64(clock.LookAge) * c.ClockDrift))
}

// Grace is by how much the earliest possible reading of a master's clock may be
// behind it, a way back apart. A script may act so much later than the attempt's
// time, so that no vote that comes in time is lost by that (V6).
func (c *Config) Grace() time.Duration { return c.LookSlack() + 3*time.Millisecond }

// Stay bounds the time from an operation's arrival to the end of its last attempt
// (V2, V5).
func (c *Config) Stay() time.Duration { return c.Timeout + c.RetryBudget }

// FloorHold is the greatest hold that is granted when a quorum of the marks bears
// it. A greater one must have been borne by all of them at one time first, so that
// whichever is left tells of it (M3). It is that of a TTL of five minutes, with
// room for padding and drift: such locks never wait for a master that is down.
const FloorHold = 6 * time.Minute

// Floor is FloorHold, if it was not lowered (LowFloor).
func (c *Config) Floor() time.Duration { return cmp.Or(c.LowFloor, FloorHold) }

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

// ExpiryOf is the expiry of a hold, in a master's own milliseconds: latest is the
// latest possible reading of its clock now, remainder what the expiry leaves when it is
// divided by mark.Residues (V6).
func ExpiryOf(latest int64, hold time.Duration, remainder int64) int64 {
	e := latest + hold.Milliseconds()
	return e + (remainder-e%mark.Residues+mark.Residues)%mark.Residues
}

func ceilMillis(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

// Settings are those of this redlockd, which its marks bear.
func (c *Config) Settings() mark.Settings {
	return mark.Settings{Hold: c.Hold(c.MaxTTL, c.Padding()), Timeout: ceilMillis(c.Timeout), Padding: ceilMillis(c.Padding())}
}

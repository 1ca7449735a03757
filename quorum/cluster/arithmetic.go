package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/tail"
)

// Drift returns the allowance for clocks that run at different rates: padded, which is
// TTL + padding, x ClockDrift + 2 ms, rounded up to milliseconds (V3).
func (c *Config) Drift(padded time.Duration) time.Duration {
	return ceilMillis(time.Duration(float64(padded)*c.ClockDrift) + 2*time.Millisecond)
}

// Hold returns how long masters keep a lock with this TTL. padding is the greatest
// padding of all instances that use the masters (V3).
func (c *Config) Hold(ttl, padding time.Duration) time.Duration {
	return ttl + padding + c.Drift(ttl+padding)
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

// CopyOf returns what an attempt, whose tail this is, stores for a TTL and a hold on a master
// whose clock shows earliest to latest now. What a read tells of the TTL is never more than it;
// the copy is over no earlier than the TTL of a client whose reply leaves at the last moment.
func (c *Config) CopyOf(its tail.Tail, ttl, hold time.Duration, earliest, latest int64) outbox.Copy {
	its.Since, its.End = latest, earliest+ttl.Milliseconds()
	its.Grace = ceilMillis(c.Timeout) + time.Duration(latest-earliest)*time.Millisecond
	return outbox.Copy{Tail: its, Expiry: latest + ceilMillis(hold).Milliseconds()}
}

func ceilMillis(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

// Settings returns the settings of this redlockd that its marks record.
func (c *Config) Settings() mark.Settings {
	s := mark.Settings{Timeout: ceilMillis(c.Timeout)}
	s.Hold = c.Hold(c.MaxTTL, s.Padding())
	return s
}

package commands

import (
	"math"
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
)

// ttl parses an expiry that must lie in the future (C3), and returns the TTL or the error
// text. An EXAT or PXAT in the past is refused, where Redis answers OK and keeps nothing:
// the client would believe that it has a lock.
func (c call) ttl(u grammar.Unit, number []byte) (time.Duration, string) {
	n, ok := resp.ParseInt(number)
	if !ok {
		return 0, errNotInteger
	}
	if n <= 0 {
		return 0, invalidExpire(c.spec.Name)
	}
	ms, ok := c.fromNow(u, n)
	switch {
	case !ok:
		return 0, invalidExpire(c.spec.Name)
	case ms <= 0:
		return 0, invalidExpire(c.spec.Name) + grammar.InPast
	}
	return c.in.bounded(c.spec.Name, ms)
}

// fromNow converts an expiry to milliseconds from now; false if it overflows.
func (c call) fromNow(u grammar.Unit, n int64) (int64, bool) {
	n, ok := u.Millis(n)
	if !ok {
		return 0, false
	}
	if u.Absolute() {
		// An expiry so far in the past that it overflows is just in the past.
		n = max(n, math.MinInt64/2) - c.in.now()
	}
	return n, true
}

// bounded returns a TTL of ms, which is positive, or the error text if it is above
// max_ttl.
func (in *Interpreter) bounded(name string, ms int64) (time.Duration, string) {
	if ms > in.cfg.MaxTTL.Milliseconds() {
		return 0, aboveMaxTTL(name, in.cfg.MaxTTL)
	}
	return millis(ms), ""
}

// noExpiry returns the TTL of a lock for which the client gave none, or the error text
// (C2, V13).
func (in *Interpreter) noExpiry() (time.Duration, string) {
	if in.cfg.NoExpiry == MaxTTLInstead {
		return in.cfg.MaxTTL, ""
	}
	return 0, errNoExpiry
}

// scriptTTL checks a TTL that a script, or the command name, gives (C3); 0 is none (C2).
func (in *Interpreter) scriptTTL(name string, d time.Duration) (time.Duration, string) {
	switch {
	case d == 0:
		return in.noExpiry()
	case d < time.Millisecond:
		return 0, invalidExpire(name)
	case d > in.cfg.MaxTTL:
		return 0, aboveMaxTTL(name, in.cfg.MaxTTL)
	}
	return d.Truncate(time.Millisecond), ""
}

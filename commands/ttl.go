package commands

import (
	"time"

	"github.com/redlockd/redlockd/commands/grammar"
	"github.com/redlockd/redlockd/internal/resp"
)

// ttl parses the expiry of a command that Redis refuses to give one of 0 or less, and
// returns the TTL or the error text (C3).
func (c call) ttl(u grammar.Unit, number []byte) (time.Duration, string) {
	n, ok := resp.ParseInt(number)
	if !ok {
		return 0, errNotInteger
	}
	if n <= 0 {
		return 0, invalidExpire(c.spec.Name)
	}
	ms, refused := c.fromNow(u, n)
	if refused != "" {
		return 0, refused
	}
	return c.in.bounded(c.spec.Name, ms)
}

// fromNow converts an expiry to milliseconds from now, or returns the error text. An
// absolute one in the past is refused, where Redis deletes the key or answers OK and stores
// nothing: a client whose clock is wrong must neither believe that it has a lock nor lose
// the one that it extends (C3).
func (c call) fromNow(u grammar.Unit, n int64) (ms int64, refused string) {
	n, ok := u.Millis(n)
	if !ok {
		return 0, invalidExpire(c.spec.Name)
	}
	if !u.Absolute() {
		return n, ""
	}
	now := c.in.now()
	if n <= now {
		return 0, invalidExpire(c.spec.Name) + grammar.InPast
	}
	return n - now, ""
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

package cluster

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"time"
	"unicode"

	"github.com/redlockd/redlockd/internal/address"
	"github.com/redlockd/redlockd/internal/invalid"
)

// Databases is the number of databases that a client may SELECT (C5), by default the same
// as in Redis.
const Databases = 16

// Config is the package's configuration. DefaultConfig gives the defaults, Validate
// checks the ranges.
type Config struct {
	// Timeout bounds one attempt at all masters (V2): 1ms to 10s, default 50ms.
	Timeout time.Duration
	// ClockDrift is the fraction by which two clocks may differ in speed, 0 to 0.1.
	// Default 0.01.
	ClockDrift float64
	// MaxTTL is the greatest TTL a client may ask for: whole milliseconds, 1ms to
	// 24h, default 24h.
	MaxTTL time.Duration
	// RetryBudget is how long an attempt that ended in a split is retried (V5): 0 to 1m,
	// default 200ms.
	RetryBudget time.Duration
	// Handover is how long a changed list of masters is announced before the previous
	// list becomes void: the time to reload every instance (M8). Stay to 24h, default 1m.
	Handover time.Duration
	// Masters are the independent servers, 1 to 15 of them; an odd number is better
	// (V12).
	Masters []Master
	// LowFloor replaces FloorHold in tests.
	LowFloor time.Duration
}

// Master is one independent Redis or Valkey server.
type Master struct {
	// Name is the master's name in the configuration and in its mark (M3), 1 to 64
	// characters.
	Name string
	// Address is host:port.
	Address string
	// Username and Password are for AUTH; empty for none.
	Username string
	Password string
	// TLS is nil for a plain connection.
	TLS *tls.Config
	// Required makes this master's agreement necessary besides the majority's (V11). At
	// most one master may be required.
	Required bool
	// AllowEviction lets the master vote even if it may evict keys (M4).
	AllowEviction bool
	// Dial replaces the network in tests.
	Dial func() (net.Conn, error)
	// Embedded is an in-memory master of this process (-dev): it has neither run_id nor
	// mark, and lives as long as the process.
	Embedded bool
}

// DefaultConfig returns the defaults, without masters.
func DefaultConfig() Config {
	return Config{
		Timeout:     50 * time.Millisecond,
		ClockDrift:  0.01,
		MaxTTL:      24 * time.Hour,
		RetryBudget: 200 * time.Millisecond,
		Handover:    time.Minute,
	}
}

// Validate returns every problem of the configuration, joined, or nil.
func (c Config) Validate() error {
	var errs []error
	bad := func(path, format string, args ...any) { errs = append(errs, invalid.Errorf(path, format, args...)) }
	if c.Timeout < time.Millisecond || c.Timeout > 10*time.Second {
		bad("timeout", "timeout is %v, expected 1ms to 10s", c.Timeout)
	}
	if c.RetryBudget < 0 || c.RetryBudget > time.Minute {
		bad("retry_budget", "retry_budget is %v, expected 0s to 1m", c.RetryBudget)
	}
	if c.ClockDrift < 0 || c.ClockDrift > 0.1 {
		bad("clock_drift", "clock_drift is %v, expected 0 to 0.1", c.ClockDrift)
	}
	if c.MaxTTL < time.Millisecond || c.MaxTTL > 24*time.Hour {
		bad("max_ttl", "max_ttl is %v, expected 1ms to 24h", c.MaxTTL)
	}
	if c.MaxTTL%time.Millisecond != 0 {
		bad("max_ttl", "max_ttl is %v, expected whole milliseconds", c.MaxTTL)
	}
	if least := c.Stay(); c.Handover < least || c.Handover > 24*time.Hour {
		bad("handover", "handover is %v, expected timeout + retry_budget = %v to 24h", c.Handover, least)
	}
	if n := len(c.Masters); n < 1 || n > MaxMasters {
		bad("masters", "there are %d masters, expected 1 to %d", n, MaxMasters)
	}
	var required []string
	names := map[string]bool{}
	for i, m := range c.Masters {
		switch {
		case m.Name == "" || len(m.Name) > 64 || strings.ContainsFunc(m.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
			bad("master."+m.Name, "a master's name is %q, expected 1 to 64 printable characters", m.Name)
		case names[m.Name]:
			bad("master."+m.Name, "two masters are named %q", m.Name)
		}
		names[m.Name] = true
		if m.Required {
			required = append(required, m.Name)
		}
		for _, other := range c.Masters[:i] {
			if address.Same(other.Address, m.Address) {
				bad("master."+m.Name+".address", "master %q at %s is the same server as master %q at %s", m.Name, m.Address, other.Name, other.Address)
			}
		}
	}
	if len(required) > 1 {
		bad("master."+required[len(required)-1], "masters %q are required, expected one at most", required)
	}
	return errors.Join(errs...)
}

// MaxMasters bounds the arrays that have one vote for each master.
const MaxMasters = 15

package commands

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redlockd/redlockd/internal/invalid"
)

// Config is what the package needs to know. DefaultConfig gives the defaults.
type Config struct {
	// MaxTTL is the greatest TTL a client may ask for (C3), in whole
	// milliseconds. Default 5m.
	MaxTTL time.Duration
	// NoExpiry is what a lock without a TTL gets (C2). Default Reject.
	NoExpiry NoExpiry
	// Deny names the unconditional commands to refuse, in lower case, out of
	// those that table.go lets it name. Who denies set denies msetex, and who
	// denies pexpire getex. What names a token, or stands in a transaction under
	// WATCH, is not unconditional; scripts are not looked into. Default none.
	Deny []string
}

// NoExpiry says what happens to a lock without a TTL.
type NoExpiry string

const (
	// Reject answers with an error that names the setting.
	Reject NoExpiry = "reject"
	// MaxTTLInstead gives it the greatest TTL.
	MaxTTLInstead NoExpiry = "max_ttl"
)

// deniable are the commands that Deny may name.
func deniable() (names []string) {
	for _, spec := range table {
		if spec.deny {
			names = append(names, spec.Name)
		}
	}
	return names
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config { return Config{MaxTTL: 24 * time.Hour, NoExpiry: Reject} }

// Validate returns every problem of the configuration, joined, or nil.
func (c Config) Validate() error {
	var errs []error
	if c.MaxTTL < time.Millisecond || c.MaxTTL > 24*time.Hour || c.MaxTTL%time.Millisecond != 0 {
		errs = append(errs, invalid.Errorf("max_ttl", "max_ttl is %v, expected 1ms to 24h in whole milliseconds", c.MaxTTL))
	}
	if c.NoExpiry != Reject && c.NoExpiry != MaxTTLInstead {
		errs = append(errs, invalid.Errorf("no_expiry", "no_expiry is %q, expected %q or %q", c.NoExpiry, Reject, MaxTTLInstead))
	}
	for _, name := range c.Deny {
		if !slices.Contains(deniable(), name) {
			errs = append(errs, invalid.Errorf("deny", "deny names %q, expected some of: %s", name, strings.Join(deniable(), ", ")))
		}
	}
	return errors.Join(errs...)
}

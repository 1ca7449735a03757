package commands

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redlockd/redlockd/internal/invalid"
)

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

// deniable returns the commands that Deny may name.
func deniable() (names []string) {
	for _, spec := range table {
		if spec.deny {
			names = append(names, spec.Name)
		}
	}
	return names
}

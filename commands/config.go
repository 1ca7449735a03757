package commands

import "time"

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

// DefaultConfig returns the defaults.
func DefaultConfig() Config { return Config{MaxTTL: 24 * time.Hour, NoExpiry: Reject} }

package commands

import "time"

// Config is the configuration of the package. DefaultConfig gives the defaults.
type Config struct {
	// MaxTTL is the greatest TTL a client may ask for (C3), in whole milliseconds.
	// Default 24h.
	MaxTTL time.Duration
	// NoExpiry is how a command that gives a lock no TTL is answered (C2). Default
	// Reject.
	NoExpiry NoExpiry
	// Deny names the unconditional commands to refuse, in lower case, out of the rows of
	// table.go with deny. Denying set denies msetex, denying pexpire denies getex. A call
	// that names a token or spares an existing lock, or stands in a transaction under
	// WATCH, is not unconditional; scripts are not inspected. Default none.
	Deny []string
}

// NoExpiry is what happens to a lock without a TTL.
type NoExpiry string

const (
	// Reject answers with an error that names the setting.
	Reject NoExpiry = "reject"
	// MaxTTLInstead gives the lock the greatest TTL.
	MaxTTLInstead NoExpiry = "max_ttl"
)

// DefaultConfig returns the defaults.
func DefaultConfig() Config { return Config{MaxTTL: 24 * time.Hour, NoExpiry: Reject} }

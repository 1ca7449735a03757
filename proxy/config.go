package proxy

import (
	"errors"
	"os"
	"time"

	"github.com/redlockd/redlockd/internal/invalid"
	"github.com/redlockd/redlockd/proxy/users"
)

// Config is the configuration of the package. DefaultConfig gives the defaults.
type Config struct {
	// Address is host:port to listen on; empty where only Unix is. Default 127.0.0.1:6380.
	Address string
	// Unix is the path of a Unix socket to listen on, too; empty for none. Mode is who may
	// connect to it. Default 0660.
	Unix string
	Mode os.FileMode
	// StepAside is how long no lock can be taken before the server ends its sessions and
	// accepts none until one can; 0 is never. Default 0.
	StepAside time.Duration
	// Passwords are those of the default user, any of which will do, each in clear or as
	// a hash (see users.Password). If there are neither Passwords nor Users, no login is
	// needed.
	Passwords []string
	// Users are the users beside the default user. If there are any but no Passwords,
	// there is no default user.
	Users []users.User
	// MaxClients bounds the sessions. Default 10000.
	MaxClients int
	// MaxPending bounds the sessions that have not logged in, or not completed their TLS
	// handshake; one more closes the oldest of the address that has most. Default 1000.
	MaxPending int
	// MaxMemory bounds in bytes what all sessions hold of commands that wait and
	// replies that were not read; beyond it the session that holds most is
	// closed. Default 256 MiB.
	MaxMemory int
	// MaxCommandBytes bounds one command, names and lengths included.
	// Default 1 MiB.
	MaxCommandBytes int
	// MaxKeyBytes bounds a key or a channel that a lock command names,
	// MaxTokenBytes a token. Default 4 KiB each.
	MaxKeyBytes, MaxTokenBytes int
	// MaxArguments bounds the arguments of one command. Default 1024.
	MaxArguments int
	// MaxPipeline bounds the commands of one session that wait for their
	// reply; beyond it the session is not read from. Default 1024.
	MaxPipeline int
	// IdleTimeout closes sessions that send nothing, except subscribers. 0 is never.
	// Default 1h.
	IdleTimeout time.Duration
	// LoginTimeout closes sessions that have not logged in so long after they connected.
	// Default 30s.
	LoginTimeout time.Duration
	// WriteTimeout closes sessions that do not read their replies. Default
	// 10s.
	WriteTimeout time.Duration
	// Patterns are those of keys by which it is told how long locks were waited for and held;
	// a key counts for the first that has it. At most MaxPatterns.
	Patterns []string
	// SlowerThan is the least duration of a command that SLOWLOG keeps; with 0 it keeps
	// every one. Default 10ms.
	SlowerThan time.Duration
}

// MaxPatterns bounds Config.Patterns: each is a label of two histograms.
const MaxPatterns = 16

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	return Config{
		Address:         "127.0.0.1:6380",
		Mode:            0o660,
		MaxClients:      10000,
		MaxPending:      1000,
		MaxMemory:       256 << 20,
		MaxCommandBytes: 1 << 20,
		MaxKeyBytes:     4 << 10,
		MaxTokenBytes:   4 << 10,
		MaxArguments:    1024,
		MaxPipeline:     1024,
		IdleTimeout:     time.Hour,
		LoginTimeout:    30 * time.Second,
		WriteTimeout:    10 * time.Second,
		SlowerThan:      10 * time.Millisecond,
	}
}

// Validate returns every problem of the configuration, joined, or nil.
func (c Config) Validate() error {
	var errs []error
	atLeast := func(name string, n, least int) {
		if n < least {
			errs = append(errs, invalid.Errorf(name, "%s is %d, expected at least %d", name, n, least))
		}
	}
	positive := func(name string, d time.Duration) {
		if d <= 0 {
			errs = append(errs, invalid.Errorf(name, "%s is %v, expected more than 0s", name, d))
		}
	}
	atLeast("max_clients", c.MaxClients, 1)
	atLeast("max_command_bytes", c.MaxCommandBytes, 1024)
	atLeast("max_arguments", c.MaxArguments, 16)
	atLeast("max_pending", c.MaxPending, 1)
	atLeast("max_memory", c.MaxMemory, 1<<20)
	atLeast("max_key_bytes", c.MaxKeyBytes, 1)
	atLeast("max_token_bytes", c.MaxTokenBytes, 1)
	atLeast("max_pipeline", c.MaxPipeline, 1)
	positive("login_timeout", c.LoginTimeout)
	positive("write_timeout", c.WriteTimeout)
	notNegative := func(name string, d time.Duration) {
		if d < 0 {
			errs = append(errs, invalid.Errorf(name, "%s is %v, expected 0s or more", name, d))
		}
	}
	notNegative("idle_timeout", c.IdleTimeout)
	if d := c.StepAside; d != 0 && d < leastStepAside {
		errs = append(errs, invalid.Errorf("step_aside", "step_aside is %v, expected 0s, which is never, or at least %v", d, leastStepAside))
	}
	notNegative("slowlog_slower_than", c.SlowerThan)
	return errors.Join(append(errs, users.Problems(c.Passwords, c.Users)...)...)
}

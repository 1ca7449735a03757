package commands

import (
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// Config is what the room needs to know. DefaultConfig gives the defaults.
type Config struct {
	// MaxTTL is the greatest TTL a client may ask for (C3). Default 5m.
	MaxTTL time.Duration
	// NoExpiry is what a lock without a TTL gets (C2). Default Reject.
	NoExpiry NoExpiry
	// Deny names the unconditional commands to refuse, in lower case: del,
	// unlink, expire, pexpire, expireat, pexpireat, persist, set, setex,
	// psetex, getset. Default none.
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
func DefaultConfig() Config { return Config{MaxTTL: 5 * time.Minute, NoExpiry: Reject} }

// Validate returns every problem of the configuration, joined, or nil.
func (c Config) Validate() error { return nil }

// Interpreter understands lock commands. It is safe for concurrent use; all
// it keeps is the memory of scripts, which all sessions share.
type Interpreter struct{}

// New returns an Interpreter. now tells the masters' time in milliseconds
// since 1970, for absolute expiries.
func New(cfg Config, now func() int64) *Interpreter { return &Interpreter{} }

// Request is an understood command: the operations it means, which may be
// carried out side by side, and the shape of its reply. Without operations
// the reply does not depend on the masters.
type Request struct {
	Ops []quorum.Op
	// Reply fills the shape, once, with the outcomes in the order of Ops. An
	// outcome with Err makes the whole reply that error.
	Reply func([]*quorum.Outcome) Reply
}

// Understand says what a command means. args[0] is its name in any case; the
// slices are not kept. The second result is false where the command is none
// of this room's; then nothing else is said about it.
func (in *Interpreter) Understand(db int, args [][]byte) (Request, bool) { return Request{}, false }

// Check tells whether a command of this room may be queued by MULTI: an
// unknown option is found only at EXEC, a wrong number of arguments at once,
// as in Redis. The reply is set when the first result is false.
func (in *Interpreter) Check(args [][]byte) (ok bool, refusal Reply) { return true, Reply{} }

// Watched is one key of WATCH with what was found there.
type Watched struct {
	DB      int
	Key     string
	Outcome *quorum.Outcome
	Watch   *quorum.Watch
}

// Exec understands a transaction (S4): what was queued, under the condition
// that what was watched is still so, as one conditional operation. What
// cannot be done so is refused by the reply, with nothing done. queue holds
// only commands that Check let pass.
func (in *Interpreter) Exec(db int, watched []Watched, queue [][][]byte) Request { return Request{} }

package quorum

import (
	"context"
	"errors"

	"github.com/hashicorp/go-hclog"
)

// Quorum asks the masters. All its methods are safe for concurrent use.
type Quorum struct{}

// New starts dialling the masters and returns at once: unreachable masters
// are silent until they are reached.
func New(cfg Config, log hclog.Logger) (*Quorum, error) { return nil, errors.New("not yet") }

// Do carries out op and calls done exactly once, with the outcome, from any
// goroutine and possibly before Do returns. done must not block. Operations
// on one key are carried out in the order of the calls (V7); op must not be
// changed afterwards. Do itself never blocks.
func (q *Quorum) Do(op *Op, client Client, done func(*Outcome)) {}

// Open makes a database ready for operations, and calls done when a quorum
// of masters has it open or when waiting does not help: for a database in use
// at once (C5). done must not block.
func (q *Quorum) Open(db int, done func()) {}

// Now is the median of the masters' clocks, in milliseconds since 1970, for
// absolute expiries; the local clock while no quorum of them is known.
func (q *Quorum) Now() int64 { return 0 }

// Status is a snapshot of the masters and counters.
func (q *Quorum) Status() Status { return Status{} }

// WaitReady returns nil as soon as a majority may vote, else ctx's error.
func (q *Quorum) WaitReady(ctx context.Context) error { return nil }

// Close ends the connections, after what is under way has been answered or
// ctx is over. Operations begun later are Undecided.
func (q *Quorum) Close(ctx context.Context) error { return nil }

// Bootstrap makes the marks of a new cluster real and returns (M6). It
// refuses, with all reasons, when a master is unreachable or bears a mark
// that is not pending.
func Bootstrap(ctx context.Context, cfg Config, log hclog.Logger) error { return errors.New("not yet") }

// Watch tells whether a key was changed through this redlockd since the read
// that armed it (Op.Arm). The zero value is ready.
type Watch struct{}

// Changed is whether the key was changed since. Safe for concurrent use.
func (w *Watch) Changed() bool { return false }

// Close ends the watching. Safe to call more than once, and when the watch
// was never armed.
func (w *Watch) Close() {}

type grant struct{}

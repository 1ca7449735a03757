package quorum

import "fmt"

// UndecidedError explains why no majority decided an operation (P4), or why it was not
// begun. Its text is for the client and begins with "NOQUORUM ".
type UndecidedError struct{ text string }

// Error returns the text for the client.
func (e *UndecidedError) Error() string { return e.text }

// undecided returns an UndecidedError with one of the texts below.
func undecided(format string, args ...any) error {
	return &UndecidedError{fmt.Sprintf(format, args...)}
}

// bootstrapHint is what to do where masters wait and nobody remembers what was granted.
const bootstrapHint = "run redlockd -bootstrap if no lock can be held"

// What a client reads; docs/operations.md explains each.
const (
	noQuorumAnswered = "NOQUORUM %d of %d masters answered, %d needed: %d agreed, %d refused"
	noQuorumFew      = "NOQUORUM %d of %d masters %s: %s"
	noQuorumRequired = "NOQUORUM the required master did not agree: %s"
	noQuorumLonger   = "NOQUORUM no lock of %v was granted before: every master's mark must bear it first, and %s"
	noQuorumTurn     = "NOQUORUM not decided within %v: others on this key came first, or masters are slow"
	noQuorumLate     = "NOQUORUM the majority agreed too late: %v after it was asked, timeout is %v; %s"
	noQuorumStill    = "NOQUORUM the clocks of a majority jumped together, or redlockd stood still: it grants nothing for %v, others do"
)

// The errors without details.
var (
	errNotListed = undecided("NOQUORUM not listed: too few masters list their keys, " +
		"or redlockd lacks the right to ask (+scan, +dbsize)")
	errStopping   = undecided("NOQUORUM redlockd is stopping")
	errCrowdedKey = undecided("NOQUORUM too many operations wait for this key")
	errGone       = undecided("NOQUORUM not carried out: the client has gone") // rarely read by anybody

	// ErrLockChanged is for callers that found another lock than the one they had
	// decided on. It is an *UndecidedError.
	ErrLockChanged = undecided("NOQUORUM the lock changed while the command was reading it, try again")
)

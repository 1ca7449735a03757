package outbox

import (
	"strconv"

	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Limits determine which copies on one master are over (V15). The zero value is no limit.
type Limits struct {
	// Any applies to all copies: those with an earlier expiry, in the master's own
	// milliseconds, are over.
	Any int64
	// Attempt is the attempt of the last answered grant: the copies that it gave, until End,
	// are over. Copies with a later end were told to last longer.
	Attempt tail.ID
	End     int64
}

// noLimits are the limits of a task for which no copy is over.
var noLimits Limits

// Limit returns the task's Limits, or noLimits if they are nil. They must not be
// changed.
func (t *Task) Limit() *Limits {
	if t.Limits == nil {
		return &noLimits
	}
	return t.Limits
}

// over reports whether a copy belongs to a lock whose TTL is over.
func (l *Limits) over(b *vote.Ballot) bool {
	return b.Expiry < l.Any || l.Attempt != 0 && b.Tail.Attempt == l.Attempt && b.Tail.End <= l.End
}

// Ends reports whether there is any limit.
func (l *Limits) Ends() bool { return *l != noLimits }

// append appends the limits in the form that the scripts read.
func (l *Limits) append(to []byte) []byte {
	to = strconv.AppendInt(to, l.Any, 10)
	if l.Attempt == 0 {
		return to
	}
	to = append(append(to, ' '), l.Attempt.String()...)
	return strconv.AppendInt(append(to, ' '), l.End, 36)
}

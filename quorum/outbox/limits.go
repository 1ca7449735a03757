package outbox

import "github.com/redlockd/redlockd/quorum/vote"

// Limits determine which copies on one master are over (V15): those with an earlier
// expiry than a limit, in the master's own milliseconds. 0 is no limit.
type Limits struct {
	// Any applies to all copies; OfToken to those with Token, the token of the grant
	// that was answered last.
	Any, OfToken int64
	Token        string
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
	return b.Expiry < l.Any || b.Expiry < l.OfToken && b.Token == l.Token
}

package outbox

import "github.com/redlockd/redlockd/quorum/vote"

// Limits say which copies on one master are over (V15): those with an earlier expiry, in
// the master's own milliseconds. 0 is no limit.
type Limits struct {
	// Any is for all copies, Told for those with Token, which was told last.
	Any, Told int64
	Token     string
}

// noLimits are those of a task that ends nothing.
var noLimits Limits

// Limit returns the task's Limits, or none where they are nil. They must not be
// changed.
func (t *Task) Limit() *Limits {
	if t.Limits == nil {
		return &noLimits
	}
	return t.Limits
}

// over reports whether a copy is left of a lock whose TTL is over.
func (l *Limits) over(b *vote.Ballot) bool {
	return b.Expiry < l.Any || b.Expiry < l.Told && b.Token == l.Token
}

package outbox

import "github.com/redlockd/redlockd/quorum/vote"

// Limits are the least expiries of copies on one master that are not over, in its
// own milliseconds: of any, and of those with the token that was told last. 0 is
// no limit.
type Limits struct {
	Any, Told int64
	Token     string
}

// noLimits are those of a task that ends nothing.
var noLimits Limits

// Limit returns the task's limits.
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

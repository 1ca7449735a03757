package outbox

import (
	"slices"
	"strconv"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Limits determine which copies on one master are over (V15), by their expiries in the
// master's own milliseconds. 0 is no limit.
type Limits struct {
	// Any applies to all copies: those with an earlier expiry are over.
	Any int64
	// OfToken are the expiries that the last answered grant, with Token, gave its copies:
	// more than one if it was renewed. Copies with one of them are over. A copy with
	// another one, though earlier, may come from another redlockd's later grant, of a
	// shorter TTL with less drift.
	OfToken []int64
	Token   string
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
	given := func(e int64) bool { return mark.SameGrant(b.Expiry, e) }
	return b.Expiry < l.Any || b.Token == l.Token && slices.ContainsFunc(l.OfToken, given)
}

// Ends reports whether there is any limit.
func (l *Limits) Ends() bool { return l.Any != 0 || len(l.OfToken) != 0 }

// append appends the limits, without Token, in the form that the scripts read.
func (l *Limits) append(to []byte) []byte {
	if !l.Ends() {
		return append(to, '0')
	}
	to = strconv.AppendInt(to, l.Any, 10)
	for _, e := range l.OfToken {
		to = strconv.AppendInt(append(to, ' '), e, 10)
	}
	return to
}

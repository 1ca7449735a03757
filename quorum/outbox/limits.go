package outbox

import (
	"strconv"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Limits determine which copies on one master are over (V15), by their expiries in the
// master's own milliseconds. 0 is no limit.
type Limits struct {
	// Any applies to all copies: those with an earlier expiry are over.
	Any int64
	// OfToken is the expiry that the last answered grant, with Token, gave its copies.
	// Copies with that expiry, whatever its residue, are over. A copy with an earlier one
	// may come from another redlockd's later grant, of a shorter TTL with less drift.
	OfToken int64
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
	given := b.Expiry <= l.OfToken && b.Expiry > l.OfToken-mark.Residues
	return b.Expiry < l.Any || given && b.Token == l.Token
}

// Ends reports whether there is any limit.
func (l *Limits) Ends() bool { return l.Any != 0 || l.OfToken != 0 }

// append appends the limits, without Token, in the form that the scripts read.
func (l *Limits) append(to []byte) []byte {
	if !l.Ends() {
		return append(to, '0')
	}
	to = append(strconv.AppendInt(to, l.Any, 10), ' ')
	return strconv.AppendInt(to, l.OfToken, 10)
}

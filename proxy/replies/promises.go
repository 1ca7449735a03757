package replies

import (
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// Promises are the methods of quorum.Outcome that keep a grant's promise. Tests, which
// cannot make an outcome that grants, use an implementation of their own.
type Promises interface {
	Clock(o *quorum.Outcome) time.Duration
	Confirm(o *quorum.Outcome, at time.Duration) (left time.Duration, err error)
	MustRenew(o *quorum.Outcome, at time.Duration) bool
	Renew(o *quorum.Outcome, client quorum.Client, done func())
	Undo(o *quorum.Outcome)
}

// Grants calls the methods of the outcome.
type Grants struct{}

func (Grants) Clock(o *quorum.Outcome) time.Duration              { return o.Clock() }
func (Grants) MustRenew(o *quorum.Outcome, at time.Duration) bool { return o.Late(at) }
func (Grants) Undo(o *quorum.Outcome)                             { o.Undo() }

func (Grants) Confirm(o *quorum.Outcome, at time.Duration) (left time.Duration, err error) {
	return o.Confirm(at)
}

func (Grants) Renew(o *quorum.Outcome, client quorum.Client, done func()) {
	o.Renew(client, done)
}

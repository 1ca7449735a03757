package proxy

import (
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// promises are what outcomes hold (quorum.Outcome). Tests, which cannot make an
// outcome that grants, put their own in its place.
type promises interface {
	clock(o *quorum.Outcome) time.Duration
	confirm(o *quorum.Outcome, at time.Duration) error
	writeBefore(o *quorum.Outcome) (time.Duration, bool)
	mustRenew(o *quorum.Outcome, at time.Duration) bool
	renew(o *quorum.Outcome, client quorum.Client, done func())
	undo(o *quorum.Outcome)
	delivered(o *quorum.Outcome, at time.Duration)
}

type quorumGrants struct{}

func (quorumGrants) clock(o *quorum.Outcome) time.Duration               { return o.Clock() }
func (quorumGrants) confirm(o *quorum.Outcome, at time.Duration) error   { return o.Confirm(at) }
func (quorumGrants) writeBefore(o *quorum.Outcome) (time.Duration, bool) { return o.WriteBefore() }
func (quorumGrants) mustRenew(o *quorum.Outcome, at time.Duration) bool  { return o.Late(at) }
func (quorumGrants) undo(o *quorum.Outcome)                              { o.Undo() }
func (quorumGrants) delivered(o *quorum.Outcome, at time.Duration)       { o.Told(at) }

func (quorumGrants) renew(o *quorum.Outcome, client quorum.Client, done func()) {
	o.Renew(client, done)
}

package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// consentWait is how long another redlockd takes at most to tell of a beat that
// it has seen: in another mark, or in that of the master itself.
func (mon *monitor) consentWait() time.Duration {
	return 2*clock.LookEvery + 4*mon.db.agreed.Greatest().Timeout + 10*clock.LookPause
}

// exemption finds out whether a master that is back with its memory has lost
// none (M4): by the beats that the other masters bear, which must have been
// looked at long enough after it came back, or by one of our own from right
// before it was lost. Whoever knows of a later beat has it begin a quarantine.
func (mon *monitor) exemption(c *connection, s mark.Observation) mark.Exemption {
	if s.Mark == nil || s.Mark.RunID == s.Server.RunID || !s.Server.Durable {
		return mark.NotExempt
	}
	if mon.db.number != 0 {
		return s.ExemptByZero()
	}
	until, fresh := mon.returned(s)
	own, _ := mon.db.agreed.Of(mon.hash)
	switch {
	case own.Epoch == 0 || own.Server != s.Mark.ID || s.Mark.Beat < own.Beat || !mon.syncsAlways(c):
		return mark.NotExempt
	case mon.now() < until:
		return mark.ExemptAsked
	case fresh || mon.othersAsked(until, true):
		return mark.IsExempt
	case mon.othersAsked(until, false):
		return mark.ExemptAlone
	default:
		return mark.ExemptAsked
	}
}

// othersAsked reports whether so many of the other masters were looked at by then
// that every majority meets one; those with a memory, or any.
func (mon *monitor) othersAsked(until time.Duration, remembering bool) bool {
	return mon.db.change.heldByMarks(mon.hash, func(other *Link) bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		st := &other.view.Standing
		return st.Last >= until-clock.LookEvery && (st.Remembers || !remembering)
	})
}

// returned notes when the server came back (mark.View.Returned).
func (mon *monitor) returned(s mark.Observation) (until time.Duration, fresh bool) {
	wait := mon.consentWait()
	mon.mu.Lock()
	defer mon.mu.Unlock()
	return mon.view.Returned(s, wait)
}

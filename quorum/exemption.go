package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// consentWait is how long another redlockd takes at most to tell of a beat that
// it has seen: in another mark, or in that of the master itself.
func (mon *monitor) consentWait() time.Duration {
	return 2*clock.LookEvery + 4*mon.db.agreed.greatest().timeout + 10*clock.LookPause
}

// exemption finds out whether a master that is back with its memory has lost
// none (M4): by the beats that the other masters bear, which must have been
// looked at long enough after it came back, or by one of our own from right
// before it was lost. Whoever knows of a later beat has it begin a quarantine.
func (mon *monitor) exemption(c *connection, s observation) exemption {
	if s.mark == nil || s.mark.runID == s.server.runID || !s.server.durable {
		return notExempt
	}
	if mon.db.number != 0 {
		return s.exemptByZero()
	}
	until, fresh := mon.returned(s)
	own, _ := mon.db.agreed.of(mon.hash)
	switch {
	case own.epoch == 0 || own.server != s.mark.id || s.mark.beat < own.beat || !mon.syncsAlways(c):
		return notExempt
	case mon.now() < until:
		return exemptAsked
	case fresh || mon.othersAsked(until, true):
		return isExempt
	case mon.othersAsked(until, false):
		return exemptAlone
	default:
		return exemptAsked
	}
}

// othersAsked reports whether so many of the other masters were looked at by then
// that every majority meets one; those with a memory, or any.
func (mon *monitor) othersAsked(until time.Duration, remembering bool) bool {
	return mon.db.change.heldByMarks(mon.hash, func(other *link) bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		st := &other.view.standing
		return st.last >= until-clock.LookEvery && (st.remembers || !remembering)
	})
}

// returned notes when the server came back, see view.
func (mon *monitor) returned(s observation) (until time.Duration, fresh bool) {
	wait := mon.consentWait()
	mon.mu.Lock()
	defer mon.mu.Unlock()
	return mon.view.returned(s, wait)
}

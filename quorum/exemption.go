package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// exemption is what the other marks say of a master that says that it has lost
// nothing in a restart (M4).
type exemption uint8

const (
	// notExempt: it lost something, or nobody can tell.
	notExempt exemption = iota
	// exemptAsked: another redlockd may still say so.
	exemptAsked
	// isExempt: nobody knows of a later beat.
	isExempt
	// exemptAlone: the same, but too few of those that were asked have a memory of
	// their own. It votes, and cannot tell alone what was granted (told.go).
	exemptAlone
)

// consentWait is how long another redlockd takes at most to tell of a beat that
// it has seen: in another mark, or in that of the master itself.
func (l *link) consentWait() time.Duration {
	return 2*clock.LookEvery + 4*l.db.agreed.greatest().timeout + 10*clock.LookPause
}

// exemption finds out whether a master that is back with its memory has lost
// none (M4): by the beats that the other masters bear, which must have been
// looked at long enough after it came back, or by one of our own from right
// before it was lost. Whoever knows of a later beat has it begin a quarantine.
func (l *link) exemption(c *connection, s observation) exemption {
	if s.mark == nil || s.mark.runID == s.server.runID || !s.server.durable {
		return notExempt
	}
	if l.db.number != 0 {
		return s.exemptByZero()
	}
	until, fresh := l.returned(s)
	own, _ := l.db.agreed.of(l.hash)
	switch {
	case own.epoch == 0 || own.server != s.mark.id || s.mark.beat < own.beat || !l.syncsAlways(c):
		return notExempt
	case l.now() < until:
		return exemptAsked
	case fresh || l.othersAsked(until, true):
		return isExempt
	case l.othersAsked(until, false):
		return exemptAlone
	default:
		return exemptAsked
	}
}

// othersAsked reports whether so many of the other masters were looked at by then
// that every majority meets one; those with a memory, or any.
func (l *link) othersAsked(until time.Duration, remembering bool) bool {
	return l.db.change.heldByMarks(l.hash, func(other *link) bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		st := &other.view.standing
		return st.last >= until-clock.LookEvery && (st.remembers || !remembering)
	})
}

// exemptByZero follows the mark of database 0, which is on the same disk.
func (s *observation) exemptByZero() exemption {
	switch {
	case s.zero == nil || !s.zero.real:
		return notExempt
	case s.zero.runID == s.server.runID:
		return isExempt
	default:
		return exemptAsked
	}
}

// returned notes when the server came back, see view.
func (l *link) returned(s observation) (until time.Duration, fresh bool) {
	wait := l.consentWait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.view.returned(s, wait)
}

package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// What is decided about a task at the moment when it goes out, since it may have waited.

// retriesDue reports whether the kept tasks are to be repeated now. They wait until it is known
// whose the residues are (isOutdated): database 0 may have yet to be looked at. The caller must
// hold mu.
func (s *sender) retriesDue() bool { return s.outbox.RetriesDue() && s.knowsClaims(s.now()) }

// isOutdated reports whether a task that undoes or repeats something must not go out any
// more: the master has lost what it is to undo, or its copies may be of another redlockd that
// has got our residue since (V6, V8). While it is not known whose residue it is now, the task
// is kept. The caller must hold mu.
func (s *sender) isOutdated(t *outbox.Task, now time.Duration) bool {
	switch {
	case t.Rollback && s.view.Another(t.Mark):
		return true
	case t.Rollback && s.mayBeOthers(t.Expiry%mark.Makers, now),
		t.Kind == vote.Release && t.Maker != 0 && s.mayBeOthers(t.Maker, now):
		if !s.knowsClaims(now) {
			s.outbox.Postpone(t)
		}
		return true
	}
	return t.From != nil && !s.stampChange(t, now)
}

// stampChange sets the expiry and the deadline of a repeated change when it goes out. If it
// cannot yet, the task is kept, unless one behind it takes the lock. The caller must hold mu.
func (s *sender) stampChange(t *outbox.Task, now time.Duration) bool {
	left := t.Until - now
	if left <= 0 {
		return false
	}
	latest, ok := s.latest(RoundHold(left), now)
	if !ok {
		s.outbox.Postpone(t)
		return false
	}
	t.Prolongs, t.Deadline = ExpiryOf(latest, left, s.prolongsTo(now)), s.deadline(now+s.cfg.Timeout)
	return true
}

// addReleaseDeadline gives a release a deadline if earlier connections cannot be fenced
// (M3); one that is repeated may still have that of an earlier connection. The caller must
// hold mu.
func (s *sender) addReleaseDeadline(t *outbox.Task, now time.Duration) {
	if t.Rollback || t.Kind != vote.Release {
		return
	}
	t.Deadline = 0
	if _, ok := s.clock.Latest(now); ok && s.fenceless {
		t.Deadline = s.deadline(now + s.cfg.Timeout)
	}
}

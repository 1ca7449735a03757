package cluster

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// What is decided about a task at the moment when it goes out, since it may have waited.

// stampChange sets the times of a repeated change when it goes out, so that the copy ends with
// the others; false if it cannot yet. The caller must hold mu.
func (s *sender) stampChange(t *outbox.Task, now time.Duration) bool {
	left := t.Until - now
	latest, ok := s.latest(RoundHold(left), now)
	if !ok {
		return false
	}
	t.Copy = outbox.Copy{Tail: t.Tail, Expiry: ExpiryOf(latest, left)}
	t.Tail.End, t.Deadline = ExpiryOf(latest, t.Missed.Ends-now), s.deadline(now+s.cfg.Timeout)
	return true
}

// follows reports whether a task must wait because one of those before it that are kept is for
// its key. A vote need not: what it misses by that is repeated.
func follows(kept []*outbox.Task, t *outbox.Task) bool {
	return t.MustDeliver() && slices.ContainsFunc(kept, func(before *outbox.Task) bool { return before.Key == t.Key })
}

// addReleaseDeadline gives a release a deadline if earlier connections cannot be fenced
// (M3); one that is repeated may still have that of an earlier connection. The caller must
// hold mu.
func (s *sender) addReleaseDeadline(t *outbox.Task, now time.Duration) {
	if t.Then != outbox.Votes || t.Kind != vote.Release {
		return
	}
	t.Deadline = 0
	if _, ok := s.clock.Latest(now); ok && s.fenceless {
		t.Deadline = s.deadline(now + s.cfg.Timeout)
	}
}

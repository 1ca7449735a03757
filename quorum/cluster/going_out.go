package cluster

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// What is decided about a task at the moment when it goes out, since it may have waited.

// stampMissed sets what the master's clock showed at most when the operation began that is
// repeated: what an attempt has given to somebody since stays (V8). Where the clock is not known,
// or may have stepped, nothing is known to be earlier. It is less by the greatest step that nobody
// sees. The caller must hold mu.
func (s *sender) stampMissed(m *outbox.Missed, now time.Duration) {
	if m.Before = 0; s.mayHaveStepped(now) {
		return
	}
	if earliest, _, ok := s.clock.Shows(now); ok {
		ago := time.Duration(float64(now-m.Began)*(1+s.cfg.ClockDrift)) + s.db.agreed.Greatest().Timeout
		m.Before = earliest - ceilMillis(ago).Milliseconds()
	}
}

// stampChange sets the times of a repeated change when it goes out, so that the copy ends with
// the others; false if it cannot yet. The caller must hold mu.
func (s *sender) stampChange(t *outbox.Task, now time.Duration) bool {
	left := t.Until - now
	earliest, latest, ok := s.shows(RoundHold(left), now)
	if !ok {
		return false
	}
	t.Copies[0] = s.cfg.CopyOf(t.Copies[0].Tail, t.Missed.Began+t.Effects[0].TTL-now, left, earliest, latest)
	t.Deadline = s.deadline(now + s.cfg.Timeout)
	return true
}

// follows reports whether a task must wait because one of those before it that are kept is for
// its key. A vote need not: what it misses by that is repeated.
func follows(kept []*outbox.Task, t *outbox.Task) bool {
	return t.MustDeliver && slices.ContainsFunc(kept, func(before *outbox.Task) bool { return before.Key() == t.Key() })
}

// addReleaseDeadline gives a release a deadline if earlier connections cannot be fenced
// (M3). The caller must hold mu.
func (s *sender) addReleaseDeadline(t *outbox.Task, now time.Duration) {
	if !s.fenceless || t.MustDeliver || t.Kind != vote.Release || t.Deadline != 0 {
		return
	}
	if _, _, ok := s.clock.Shows(now); ok {
		t.Deadline = s.deadline(now + s.cfg.Timeout)
	}
}

package storms

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/vote"
)

// lossyRole makes a master the replica of a server that lacks its last writes. A
// redlockd sees that it is a replica. Until then it answers as that server does, as
// docs/safety.md states; see misled.
func (s *storm) lossyRole(rng *rand.Rand) {
	s.with(rng, 2500*time.Millisecond, 4*time.Second, func(f *fakeredis.Server, after time.Duration) {
		if !s.watch(rng, f, after+4*time.Second) {
			return
		}
		lag := some(rng, 0, 3*time.Second)
		s.tell("master %s is a replica for %v, of one that lacks the last %v", f.Name, after, lag)
		s.on(f, after, func() {
			f.Replica, f.Strange, f.Lagged, f.Lag = true, true, s.Now(), lag
			f.GoBack(f.Lagged - lag)
		}, func() { f.Replica, f.Promoted = false, true })
	})
}

// lacksExtend reports whether a server that was made a replica since a time has a copy with an
// expiry of before the lease was last prolonged, by which its lock is over: masters got that from
// when it was asked for, and where it had to be renewed until its reply left (V2). The caller must
// hold the world's lock.
func lacksExtend(s *fakeredis.Server, l *lease, since time.Duration) bool {
	return s.Lagged >= since && l.taken <= s.Lagged && l.told >= s.Lagged-s.Lag
}

// misled reports whether the answer that a lock is absent, or another token's, follows from
// a master that was made a replica of a server that lacks the lock, so shortly before that
// the redlockd may not have seen its role (docs/safety.md): looks are a second apart, and
// take a few round trips. The caller must hold mu.
func (t *try) misled(l *lease, v quorum.Verdict, token string) bool {
	if !t.decidedByLaggard(l, v, token) {
		return false
	}
	t.count("excuse: a master has just become a replica of a server that lacks the lock")
	return true
}

// decidedByLaggard reports whether such a master's vote is decisive: it is the required
// one, or the others that have a copy are no majority.
func (t *try) decidedByLaggard(l *lease, v quorum.Verdict, token string) bool {
	since, laggards, copies := t.sent-clock.LookEvery-3*t.cfg.Timeout, 0, 0
	list := t.list()
	t.Lock()
	defer t.Unlock()
	for _, p := range list {
		switch f := p.leads(); {
		case lacks(f, t.lock, l.token, since), v == quorum.Absent && (token == l.token || token == "") && lacksExtend(f, l, since):
			if e, ok := f.Get(t.lock.DB, t.lock.Key); v == quorum.Held && !(ok && holderIn(e.Token()) == token) {
				continue
			}
			if laggards++; t.shape.required && p.master == "a" {
				return true
			}
		case had(f, t.lock, l.token, t.sent):
			copies++
		}
	}
	return laggards > 0 && copies < vote.Majority(len(list))
}

// TestStormJudgeOfALostExtend checks that a server that was made a replica lacks an extend if it lacks
// what was written at any time from its asking to its reply.
func TestStormJudgeOfALostExtend(t *testing.T) {
	l := &lease{taken: 5 * time.Second, told: 6 * time.Second}
	for _, tt := range []struct {
		name        string
		lagged, lag time.Duration
		since       time.Duration
		lacks       bool
	}{
		{"it lacks all of it", 7 * time.Second, 3 * time.Second, 0, true},
		{"it lacks the renewal", 7 * time.Second, 1500 * time.Millisecond, 0, true},
		{"it lacks what came before the reply only", 5500 * time.Millisecond, time.Second, 0, true},
		{"it lacks what came after it", 7 * time.Second, 500 * time.Millisecond, 0, false},
		{"it was a replica before", 4 * time.Second, 3 * time.Second, 0, false},
		{"that was long ago", 7 * time.Second, 3 * time.Second, 8 * time.Second, false},
	} {
		if got := lacksExtend(&fakeredis.Server{Lagged: tt.lagged, Lag: tt.lag}, l, tt.since); got != tt.lacks {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

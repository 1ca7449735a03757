package quorum

import (
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// A change of a lock's token that was won is repeated to the masters that were
// silent, as a release is: else the lock could neither be extended nor released
// by its new token while these and not others are up. It is no vote, and only
// ever follows one that a majority has made.

// retryChanges repeats what was won to the masters that were silent: the new tokens,
// and the releases of what a Remove or a transact has deleted (V8).
func (a *attempt) retryChanges() {
	if !a.op.Replace && a.op.Kind != transact && a.op.Kind != Remove {
		return
	}
	var missed [maxMasters]bool
	a.mu.Lock()
	for i, b := range a.box.ballots {
		missed[i] = b.Vote == vote.Silent && !b.Lost
	}
	removed, known := a.removedLocked()
	a.mu.Unlock()
	for i, l := range a.masters.links {
		if !missed[i] {
			continue
		}
		if a.op.Replace {
			l.retryChange(a.op.Key, a.op.Token, a.op.NewToken, a.hold, a.times.began)
		}
		if known {
			a.releaseOn(l, a.op.Key, removed)
		}
		for k := range a.op.steps {
			s := &a.op.steps[k]
			switch {
			case !s.Exists:
			case s.Does == outbox.Deletes:
				a.releaseOn(l, s.Key, s.Was)
			case s.Does == outbox.Stores && s.Token != s.Was:
				l.retryChange(s.Key, s.Was, s.Token, s.Hold, a.times.began)
			}
		}
	}
}

// removedLocked is the token of the lock that a Remove has deleted: one that a quorum
// had. What fewer had may be an acquire under way that wins on other masters. Needs mu.
func (a *attempt) removedLocked() (token string, known bool) {
	if a.op.Kind != Remove {
		return "", false
	}
	deleted := map[string]int{}
	for _, b := range a.box.ballots {
		if b.Vote == vote.Released && b.Token != "" { // none is what is no lock
			if deleted[b.Token]++; deleted[b.Token] >= a.box.needs.Quorum {
				return b.Token, true
			}
		}
	}
	return "", false
}

// releaseOn releases on a master that was silent what the others have deleted.
func (a *attempt) releaseOn(l *link, key, token string) {
	l.send(&outbox.Task{Kind: Release, Key: key, Token: token, Until: a.times.began + a.call.q.longestHold()}, a.call.q.now())
}

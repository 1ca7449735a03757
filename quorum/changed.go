package quorum

import (
	"slices"

	"github.com/redlockd/redlockd/quorum/vote"
)

// A change of a lock's token that was won is repeated to the masters that were
// silent, as a release is: else the lock could neither be extended nor released
// by its new token while these and not others are up. It is no vote, and only
// ever follows one that a majority has made.

// anyChange stands for the expiry in the name of a change that is repeated: there is
// one for each key.
const anyChange = -1

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
			case s.change == nil || !s.there():
			case s.change.Delete:
				a.releaseOn(l, s.key, s.state.Token)
			case s.change.Token != s.state.Token:
				l.retryChange(s.key, s.state.Token, s.change.Token, s.hold, a.times.began)
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
	l.send(&task{kind: Release, key: key, token: token, until: a.times.began + a.call.q.longestHold()}, a.call.q.now())
}

// sinceChanged looks after the change that is to be repeated on a key, when the master is
// asked for something else there: a release of the lock goes behind it, and what
// begins another lock outdates it. Needs mu.
func (o *outbox) sinceChanged(t *task, takes bool) {
	for _, key := range t.keys() {
		name := retryKey{key: key, expiry: anyChange}
		before := o.retries[name]
		switch {
		case before == nil || t == before:
		case t.kind == Release && !t.rollback:
			if takes {
				o.append(o.takeRetry(name))
			}
		case t.outdates(before, key):
			o.takeRetry(name)
		}
	}
}

// outdates reports whether a task may begin another lock with one of the tokens that
// a change would replace.
func (t *task) outdates(before *task, key string) bool {
	switch {
	case t.rollback || t.heals:
		return false
	case t.kind == Store || t.kind == Remove:
		return true
	}
	return slices.ContainsFunc(t.locks(), func(n retryKey) bool { return n.key == key && slices.Contains(before.from, n.token) })
}

package quorum

import (
	"slices"
	"sync"
	"time"
)

// retryKey names a rollback by its attempt, and a release by its token.
type retryKey struct {
	key, token string
	expiry     int64
}

// name is under what the task is repeated.
func (t *task) name() retryKey {
	n := retryKey{key: t.key, token: t.token}
	switch {
	case t.rollback:
		n.expiry = t.expiry
	case t.from != nil:
		n.token, n.expiry = "", anyChange
	}
	return n
}

// addRetry keeps a task for when the master can be reached again. Needs mu.
func (l *link) addRetry(t *task) {
	name := t.name()
	if l.retries[name] != nil || !l.roomForRetry(t) {
		return
	}
	again := *t
	again.att = nil
	l.retries[name] = &again
	l.retryBytes += t.size()
}

// roomForRetry makes room for one more, if it can. Needs mu.
func (l *link) roomForRetry(t *task) bool {
	room := func() bool { return len(l.retries) < maxRetries && l.retryBytes+t.size() <= maxRetryBytes }
	if now := l.now(); !room() && now-l.purged >= time.Second {
		l.purged = now
		for name, t := range l.retries {
			if now >= t.until {
				l.takeRetry(name)
			}
		}
	}
	return room()
}

// takeRetry removes what is to be repeated under a name. Needs mu.
func (l *link) takeRetry(name retryKey) *task {
	t := l.retries[name]
	if t != nil {
		delete(l.retries, name)
		l.retryBytes -= t.size()
	}
	return t
}

// undoes reports whether the rollback of an attempt is still to be carried out, or
// may be so again. Needs mu.
func (l *link) undoes(n lockName, expiry int64) bool {
	if len(l.retries) == 0 && len(l.undoing) == 0 {
		return false
	}
	name := retryKey{key: n.key, token: n.token, expiry: expiry}
	return l.retries[name] != nil || l.undoing[name] > 0
}

// undone notes that a rollback waits and is under way no more, once. Needs mu.
func (l *link) undone(t *task) {
	if !t.rollback {
		return
	}
	if name := t.name(); l.undoing[name] > 1 {
		l.undoing[name]--
	} else {
		delete(l.undoing, name)
	}
}

// outdated reports whether a rollback is for a mark that the master bears no more.
// Needs mu.
func (l *link) outdated(t *task) bool {
	return t.rollback && l.under != nil && l.under.id != t.mark
}

// spare drops the rollback of what turns out to have created nothing, if it has
// not gone out.
func (l *link) spare(name retryKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.takeRetry(name)
	if l.undoing[name] == 0 {
		return
	}
	l.queue = slices.DeleteFunc(l.queue, func(t *task) bool {
		drop := t.rollback && t.name() == name
		if drop {
			l.bytes -= t.size()
			l.undone(t)
		}
		return drop
	})
}

// flushRetries puts what is to be repeated behind what waits already: that may be the late
// part of what it undoes. Needs mu.
func (l *link) flushRetries() {
	l.due = false
	now := l.now()
	// A release goes behind the change that gave the lock its token.
	for _, changes := range []bool{true, false} {
		for name, t := range l.retries {
			if changes != (t.from != nil) {
				continue
			}
			if l.takeRetry(name); now < t.until {
				l.append(t)
			}
		}
	}
}

// maxTries is how often what must arrive is sent again at once; then it waits
// for the next look, unless what waits takes the lock again (V8).
const maxTries = 3

// repeat sends again what failed and must arrive: before all that waits, or
// over the next connection. A release behind which the same batch took the
// lock again is not repeated (V8); what was refused, or answered by an error,
// took nothing. Needs mu.
func (l *link) repeat(b *batch, outcomes []outcome, over bool) {
	taken, behind := map[retryKey]bool{}, sync.OnceValue(l.takers)
	var again []*task
	for i := len(b.tasks) - 1; i >= 0; i-- {
		t := b.tasks[i]
		if o := &outcomes[i]; (o.done || o.code == "") && o.ballot.vote != refused {
			for _, name := range t.locks() {
				taken[name] = true
			}
		}
		name := retryKey{key: t.key, token: t.token}
		switch {
		case outcomes[i].done || !t.mustDeliver() || !t.rollback && t.from == nil && taken[name]:
		case !over && (t.tries < maxTries || !t.rollback && behind()[name]):
			t.tries++
			if t.rollback {
				l.undoing[t.name()]++
			}
			again = append(again, t)
			l.bytes += t.size()
		default:
			l.addRetry(t)
		}
	}
	slices.Reverse(again)
	l.queue = append(again, l.queue...)
}

// takers are the locks that what waits takes. Needs mu.
func (l *link) takers() map[retryKey]bool {
	out := map[retryKey]bool{}
	for _, t := range l.queue {
		for _, name := range t.locks() {
			out[name] = true
		}
	}
	return out
}

package quorum

import (
	"slices"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// retryKey names a rollback by its attempt, and a release by its token.
type retryKey struct {
	key, token string
	expiry     int64
}

// addRetry keeps a task for when the master can be reached again.
func (o *outbox) addRetry(t *task) {
	name := t.name()
	if o.retries[name] != nil || !o.roomForRetry(t) {
		return
	}
	again := *t
	again.att = nil
	o.retries[name] = &again
	o.retryBytes += t.size()
}

// roomForRetry makes room for one more, if it can.
func (o *outbox) roomForRetry(t *task) bool {
	room := func() bool { return len(o.retries) < maxRetries && o.retryBytes+t.size() <= maxRetryBytes }
	if now := o.now(); !room() && now-o.purged >= time.Second {
		o.purged = now
		for name, t := range o.retries {
			if now >= t.until {
				o.takeRetry(name)
			}
		}
	}
	return room()
}

// takeRetry removes what is to be repeated under a name.
func (o *outbox) takeRetry(name retryKey) *task {
	t := o.retries[name]
	if t != nil {
		delete(o.retries, name)
		o.retryBytes -= t.size()
	}
	return t
}

// undoes reports whether the rollback of an attempt is still to be carried out, or
// may be so again.
func (o *outbox) undoes(n lockName, expiry int64) bool {
	if len(o.retries) == 0 && len(o.undoing) == 0 {
		return false
	}
	name := retryKey{key: n.key, token: n.token, expiry: expiry}
	return o.retries[name] != nil || o.undoing[name] > 0
}

// undone notes that a rollback waits and is under way no more, once.
func (o *outbox) undone(t *task) {
	if !t.rollback {
		return
	}
	if name := t.name(); o.undoing[name] > 1 {
		o.undoing[name]--
	} else {
		delete(o.undoing, name)
	}
}

// spare drops the rollback of what turns out to have created nothing, if it has
// not gone out.
func (o *outbox) spare(name retryKey) {
	o.takeRetry(name)
	if o.undoing[name] == 0 {
		return
	}
	o.queue = slices.DeleteFunc(o.queue, func(t *task) bool {
		drop := t.rollback && t.name() == name
		if drop {
			o.bytes -= t.size()
			o.undone(t)
		}
		return drop
	})
}

// flushRetries puts what is to be repeated behind what waits already: that may be the late
// part of what it undoes.
func (o *outbox) flushRetries() {
	o.due = false
	now := o.now()
	// A release goes behind the change that gave the lock its token.
	for _, changes := range []bool{true, false} {
		for name, t := range o.retries {
			if changes != (t.from != nil) {
				continue
			}
			if o.takeRetry(name); now < t.until {
				o.append(t)
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
// took nothing.
func (o *outbox) repeat(b *batch, outcomes []outcome, over bool) {
	taken, behind := map[retryKey]bool{}, sync.OnceValue(o.takers)
	var again []*task
	for i := len(b.tasks) - 1; i >= 0; i-- {
		t := b.tasks[i]
		if o := &outcomes[i]; (o.done || o.code == "") && o.ballot.Vote != vote.Refused {
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
				o.undoing[t.name()]++
			}
			again = append(again, t)
			o.bytes += t.size()
		default:
			o.addRetry(t)
		}
	}
	slices.Reverse(again)
	o.queue = append(again, o.queue...)
}

// takers are the locks that what waits takes.
func (o *outbox) takers() map[retryKey]bool {
	out := map[retryKey]bool{}
	for _, t := range o.queue {
		for _, name := range t.locks() {
			out[name] = true
		}
	}
	return out
}

package outbox

import (
	"slices"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// Name is under what a task is kept to be repeated: a rollback under its attempt's key,
// token and expiry (V6), a release under key and token, a change under its key.
type Name struct {
	Key, Token string
	Expiry     int64
}

// AddRetry keeps a copy of a task for when the master can be reached again. It does
// nothing where one of that Name is kept, or where there is no room.
func (o *Outbox) AddRetry(t *Task) {
	name := t.name()
	if o.retries[name] != nil || !o.roomForRetry(t) {
		return
	}
	again := *t
	again.Asked = nil
	o.retries[name] = &again
	o.retryBytes += t.size()
}

// roomForRetry reports whether there is room for one more. Where there is not, it drops
// what has become useless, once a second at most.
func (o *Outbox) roomForRetry(t *Task) bool {
	room := func() bool { return len(o.retries) < maxRetries && o.retryBytes+t.size() <= maxRetryBytes }
	if now := o.now(); !room() && now-o.purged >= time.Second {
		o.purged = now
		for name, t := range o.retries {
			if now >= t.Until {
				o.takeRetry(name)
			}
		}
	}
	return room()
}

// takeRetry removes and returns what is to be repeated under a name, or nil.
func (o *Outbox) takeRetry(name Name) *Task {
	t := o.retries[name]
	if t != nil {
		delete(o.retries, name)
		o.retryBytes -= t.size()
	}
	return t
}

// RollbackPending reports whether the rollback of the attempt with this name is to be
// repeated, waits or is under way: what gets the name now would be deleted by it (V6).
func (o *Outbox) RollbackPending(key, token string, expiry int64) bool {
	if len(o.retries) == 0 && len(o.undoing) == 0 {
		return false
	}
	name := Name{Key: key, Token: token, Expiry: expiry}
	return o.retries[name] != nil || o.undoing[name] > 0
}

// RollbackEnded notes that t, if it is a rollback, neither waits any more nor is under
// way. It must be called once for each time that the rollback was put in.
func (o *Outbox) RollbackEnded(t *Task) {
	if !t.Rollback {
		return
	}
	if name := t.name(); o.undoing[name] > 1 {
		o.undoing[name]--
	} else {
		delete(o.undoing, name)
	}
}

// DropRollback drops the rollback of an attempt that turns out to have created nothing,
// if it has not gone out.
func (o *Outbox) DropRollback(name Name) {
	o.takeRetry(name)
	if o.undoing[name] == 0 {
		return
	}
	o.queue = slices.DeleteFunc(o.queue, func(t *Task) bool {
		drop := t.Rollback && t.name() == name
		if drop {
			o.bytes -= t.size()
			o.RollbackEnded(t)
		}
		return drop
	})
}

// Retries is how many tasks are kept to be repeated, and about how many bytes they take.
func (o *Outbox) Retries() (tasks, bytes int) { return len(o.retries), o.retryBytes }

// Due reports whether what is to be repeated is to be tried now (FlushRetries).
func (o *Outbox) Due() bool { return o.flush }

// FlushSoon makes what is to be repeated Due, where the caller knows that trying it now
// helps.
func (o *Outbox) FlushSoon(helps bool) { o.flush = o.flush || helps && len(o.retries) > 0 }

// HoldBack makes what is to be repeated wait until the next FlushSoon.
func (o *Outbox) HoldBack() { o.flush = false }

// FlushRetries puts what is to be repeated behind what waits already, since that may
// belong to an attempt that it undoes. What has become useless is dropped.
func (o *Outbox) FlushRetries() {
	o.flush = false
	now := o.now()
	// A release goes behind the change that gave the lock its token.
	for _, changes := range []bool{true, false} {
		for name, t := range o.retries {
			if changes != (t.From != nil) {
				continue
			}
			if o.takeRetry(name); now < t.Until {
				o.append(t)
			}
		}
	}
}

// MaxTries is how often what must arrive is sent again at once; then it waits
// for the next look, unless what waits takes the lock again (V8).
const MaxTries = 3

// Repeat sends again what of a batch has failed and must arrive: before all that waits,
// or over the next connection if this one is over. A release behind which the same
// batch took the lock again is not repeated (V8); what was refused, or answered by an
// error, took nothing.
func (o *Outbox) Repeat(b *Batch, results []Result, over bool) {
	taken, behind := map[Name]bool{}, sync.OnceValue(o.takers)
	var again []*Task
	for i := len(b.Tasks) - 1; i >= 0; i-- {
		t := b.Tasks[i]
		if r := &results[i]; (r.Done || r.Code == "") && r.Ballot.Vote != vote.Refused {
			for _, name := range t.locks() {
				taken[name] = true
			}
		}
		name := Name{Key: t.Key, Token: t.Token}
		switch {
		case results[i].Done || !t.MustDeliver() || !t.Rollback && t.From == nil && taken[name]:
		case t.outdatedBy(b.Tasks[i+1:]):
		case !over && (t.tries < MaxTries || !t.Rollback && behind()[name]):
			t.tries++
			if t.Rollback {
				o.undoing[t.name()]++
			}
			again = append(again, t)
			o.bytes += t.size()
		case !t.outdatedBy(o.queue):
			o.AddRetry(t)
		}
	}
	slices.Reverse(again)
	o.queue = append(again, o.queue...)
}

// takers are the locks that what waits takes.
func (o *Outbox) takers() map[Name]bool {
	out := map[Name]bool{}
	for _, t := range o.queue {
		for _, name := range t.locks() {
			out[name] = true
		}
	}
	return out
}

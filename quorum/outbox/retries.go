package outbox

import (
	"slices"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// Name identifies a task that is to be repeated: a rollback by its attempt's key, token
// and expiry (V6), a release by key and token, a change of token by its key.
type Name struct {
	Key, Token string
	Expiry     int64
}

// AddRetry keeps a copy of a task until the master can be reached again. It does
// nothing if a task of the same Name is kept already, or if there is no room. t may have
// been sent before the one that is kept, but not after it.
func (o *Outbox) AddRetry(t *Task) {
	name := t.name()
	o.joinChange(t)
	if kept := o.retries[name]; kept != nil {
		if t.Maker == 0 {
			kept.Maker = 0 // it is to free whatever has the token
		}
		return
	}
	if !o.roomForRetry(t) {
		return
	}
	again := *t
	again.Asked = nil
	o.retries[name] = &again
	o.retryBytes += t.size()
}

// roomForRetry reports whether there is room for one more task to be repeated. If there
// is not, it first drops those that have become useless, at most once a second.
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

// takeRetry removes and returns the task to be repeated that has this name, or nil.
func (o *Outbox) takeRetry(name Name) *Task {
	t := o.retries[name]
	if t != nil {
		delete(o.retries, name)
		o.retryBytes -= t.size()
	}
	return t
}

// anyToken is the expiry in a Name that stands for all tokens of its key.
const anyToken = -2

// takeReleases removes and returns the releases to be repeated of the lock, or of all locks
// of the key, that name stands for.
func (o *Outbox) takeReleases(name Name) (out []*Task) {
	if name.Expiry != anyToken {
		if t := o.takeRetry(name); t != nil {
			out = append(out, t)
		}
		return out
	}
	for other, t := range o.retries {
		if other.Key == name.Key && t.Kind == vote.Release && !t.Rollback && t.From == nil {
			out = append(out, o.takeRetry(other))
		}
	}
	return out
}

// RollbackPending reports whether the rollback of the attempt with this name is to be
// repeated, waits or is under way: it would delete a copy that gets the name now (V6).
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
// if it has not been sent.
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

// Retries returns how many tasks are kept to be repeated, and about how many bytes they
// take.
func (o *Outbox) Retries() (tasks, bytes int) { return len(o.retries), o.retryBytes }

// Owes reports whether a kept task would still be of use to the master.
func (o *Outbox) Owes() bool {
	now := o.now()
	for _, t := range o.retries {
		if now < t.Until {
			return true
		}
	}
	return false
}

// RetriesDue reports whether the kept tasks are to be repeated now (FlushRetries).
func (o *Outbox) RetriesDue() bool { return o.flush }

// RequestRetries sets RetriesDue, if repeating the kept tasks now helps, as the
// caller judges.
func (o *Outbox) RequestRetries(helps bool) { o.flush = o.flush || helps && len(o.retries) > 0 }

// DelayRetries makes the kept tasks wait until the next RequestRetries.
func (o *Outbox) DelayRetries() { o.flush = false }

// FlushRetries puts the kept tasks behind those that wait already, since one of these
// may belong to an attempt that a kept rollback undoes. Useless ones are dropped.
func (o *Outbox) FlushRetries() {
	o.flush = false
	now := o.now()
	// Changes first: a release goes behind the change that gave the lock its token.
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

// MaxTries is how often a task that must be delivered is sent again at once. Then it
// waits for the next look, unless a task that waits takes the lock again (V8).
const MaxTries = 3

// Repeat sends again the failed tasks of a batch that must be delivered: before all
// that wait, or over the next connection if over reports that this one has ended. A
// release is not repeated if a task behind it in the same batch took the lock again, or
// counted its copy (V8); a task that was refused, or answered by an error, did neither.
func (o *Outbox) Repeat(b *Batch, results []Result, over bool) {
	taken, behind := map[Name]bool{}, sync.OnceValue(func() map[Name]bool { return takersIn(o.queue) })
	var again []*Task
	for i := len(b.Tasks) - 1; i >= 0; i-- {
		t := b.Tasks[i]
		if !results[i].Done {
			t.goOnAs(b.Tasks[i+1:], results[i+1:])
		}
		if r := &results[i]; (r.Done || r.Code == "") && r.Ballot.Vote != vote.Refused {
			for _, name := range t.counts() {
				taken[name] = true
			}
		}
		switch {
		case results[i].Done || !t.MustDeliver() || !t.Rollback && t.From == nil && t.isIn(taken):
		case t.freedBy(b.Tasks[i+1:]), t.freedBy(o.queue):
			for _, r := range t.releases(taken) {
				if over {
					o.AddRetry(r)
					continue
				}
				again = append(again, r)
				o.bytes += r.size()
			}
		case t.outdatedBy(b.Tasks[i+1:]):
		case !over && (t.tries < MaxTries || !t.Rollback && t.isIn(behind()) || t.changedBy(again) || t.changedBy(o.queue)):
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

// takersIn returns the locks that the tasks take, or of which they may count a copy.
func takersIn(tasks []*Task) map[Name]bool {
	out := map[Name]bool{}
	for _, t := range tasks {
		for _, name := range t.counts() {
			out[name] = true
		}
	}
	return out
}

// isIn reports whether the task's lock is among those taken.
func (t *Task) isIn(taken map[Name]bool) bool {
	return taken[Name{Key: t.Key, Token: t.Token}] || taken[Name{Key: t.Key, Expiry: anyToken}]
}

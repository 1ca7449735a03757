package outbox

import (
	"slices"
	"time"
)

// Rollbacks (V6) and repeats (V8) are kept until the master has carried them out. Each names
// the copies that it is about, so it does no harm however late it comes, or if it comes twice.
// Those of one key go in their order, and before whatever else is sent for it: what follows
// may depend on them.

// AddRetry keeps a copy of a task until the master can be reached again, behind those of its
// key that are kept. It does nothing if there is no room.
func (o *Outbox) AddRetry(t *Task) { o.keep(t, false) }

// KeepFirst keeps tasks that were in the queue: before those of their keys that are kept, which
// came later.
func (o *Outbox) KeepFirst(tasks []*Task) {
	for _, t := range slices.Backward(tasks) {
		o.keep(t, true)
	}
}

func (o *Outbox) keep(t *Task, first bool) {
	if !o.roomForRetry(t) {
		return
	}
	again, at := *t, len(o.retries[t.Key()])
	if first {
		at = 0
	}
	o.retries[t.Key()] = slices.Insert(o.retries[t.Key()], at, &again)
	o.kept++
	o.retryBytes += t.size()
}

// roomForRetry reports whether there is room for one more task to be repeated. If there
// is not, it first drops those that have become useless, at most once a second.
func (o *Outbox) roomForRetry(t *Task) bool {
	room := func() bool { return o.kept < maxRetries && o.retryBytes+t.size() <= maxRetryBytes }
	if now := o.now(); !room() && now-o.purged >= time.Second {
		o.purged = now
		for key := range o.retries {
			for _, t := range o.takeRetries(key) {
				o.AddRetry(t)
			}
		}
	}
	return room()
}

// takeRetries removes and returns the tasks of a key that are to be repeated and still of use,
// in their order.
func (o *Outbox) takeRetries(key string) []*Task {
	all := o.retries[key]
	delete(o.retries, key)
	o.kept -= len(all)
	for _, t := range all {
		o.retryBytes -= t.size()
	}
	now := o.now()
	return slices.DeleteFunc(all, func(t *Task) bool { return now >= t.Until })
}

// Retries returns how many tasks are kept to be repeated, and about how many bytes they
// take.
func (o *Outbox) Retries() (tasks, bytes int) { return o.kept, o.retryBytes }

// Owes reports whether a kept task would still be of use to the master.
func (o *Outbox) Owes() bool {
	now := o.now()
	for _, all := range o.retries {
		if slices.ContainsFunc(all, func(t *Task) bool { return now < t.Until }) {
			return true
		}
	}
	return false
}

// RetriesDue reports whether the kept tasks are to be repeated now (FlushRetries).
func (o *Outbox) RetriesDue() bool { return o.flush }

// RequestRetries sets RetriesDue, if repeating the kept tasks now helps, as the
// caller judges.
func (o *Outbox) RequestRetries(helps bool) { o.flush = o.flush || helps && o.kept > 0 }

// FlushRetries puts the kept tasks behind those that wait already, since one of these
// may belong to an attempt that a kept rollback undoes.
func (o *Outbox) FlushRetries() {
	o.flush = false
	for key := range o.retries {
		for _, t := range o.takeRetries(key) {
			o.append(t)
		}
	}
}

// MaxTries is how often a task that must be delivered is sent again at once. Then it waits for the
// next look, or for the next task of its key, unless one waits already.
const MaxTries = 3

// Repeat sends again the failed tasks of a batch that must be delivered, before all that wait. If
// the connection has ended, they are lost with those. What must be delivered and was done behind a
// failed one of its key is sent again, too: it may have found what that was to change.
func (o *Outbox) Repeat(b *Batch, results []Result) {
	var owed, again []*Task
	failed, waits := map[string]bool{}, map[string]bool{}
	for i, t := range b.Tasks {
		failed[t.Key()] = failed[t.Key()] || !results[i].Done && t.MustDeliver
		if failed[t.Key()] && t.MustDeliver {
			owed = append(owed, t)
		}
	}
	for _, t := range o.queue {
		waits[t.Key()] = true
	}
	for _, t := range slices.Backward(owed) {
		if t.tries >= MaxTries && !waits[t.Key()] {
			o.keep(t, true)
			continue
		}
		t.tries++
		waits[t.Key()] = true
		again = append(again, t)
		o.bytes += t.size()
	}
	slices.Reverse(again)
	o.queue = append(again, o.queue...)
}

package outbox

import (
	"slices"

	"github.com/redlockd/redlockd/quorum/vote"
)

// A change of a lock's token that was won is repeated as a release is. It is no vote,
// and only ever follows one that a majority has made (V8).

// anyChange stands for the expiry in the name of a change that is repeated: there is
// one for each key.
const anyChange = -1

// AddChange keeps a change to be repeated: with those before it on the key, which the
// master may have missed too.
func (o *Outbox) AddChange(t *Task) {
	if before := o.takeRetry(t.name()); before != nil && before.Token == t.From[0] {
		t.From = append(before.From, t.From...)
	}
	o.AddRetry(t)
}

// SinceChanged looks after the change that is to be repeated on a key, when the master is
// asked for something else there: a release of the lock goes behind it, and what
// begins another lock outdates it.
func (o *Outbox) SinceChanged(t *Task, takes bool) {
	if len(o.retries) == 0 {
		return
	}
	for _, key := range t.keys() {
		name := Name{Key: key, Expiry: anyChange}
		before := o.retries[name]
		switch {
		case before == nil || t == before:
		case t.Kind == vote.Release && !t.Rollback:
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
func (t *Task) outdates(before *Task, key string) bool {
	switch {
	case t.Rollback || t.Heals:
		return false
	case t.Kind == vote.Store || t.Kind == vote.Remove:
		return true
	}
	return slices.ContainsFunc(t.locks(), func(n Name) bool { return n.Key == key && slices.Contains(before.From, n.Token) })
}

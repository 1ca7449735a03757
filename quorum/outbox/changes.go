package outbox

import (
	"slices"

	"github.com/redlockd/redlockd/quorum/vote"
)

// A won change of a lock's token is repeated to the masters that missed it, as a
// release is. The repetition is no vote: a majority has made the change already (V8).

// anyChange is the expiry in the Name of a repeated change: there is at most one for a
// key, whatever its tokens.
const anyChange = -1

// AddChange keeps t, a change with From set, to be repeated. If the previous change of
// the key is still kept, t replaces the tokens of both, since the master may have
// missed both.
func (o *Outbox) AddChange(t *Task) {
	if before := o.takeRetry(t.name()); before != nil && before.Token == t.From[0] {
		t.From = append(before.From, t.From...)
	}
	o.AddRetry(t)
}

// SettleChanges sends or drops the repeated changes of the keys of t, a task that is
// handed to the master now. A release goes behind the change; a task that may begin
// another lock outdates it. takes reports whether t may be sent now.
func (o *Outbox) SettleChanges(t *Task, takes bool) {
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

// Outdated reports whether a task that waits behind t, a repeated change, outdates it.
func (o *Outbox) Outdated(t *Task) bool {
	return t.outdatedBy(o.queue[slices.Index(o.queue, t)+1:])
}

// outdatedBy reports whether one of the tasks sent after a change outdates it.
func (t *Task) outdatedBy(behind []*Task) bool {
	return t.From != nil && slices.ContainsFunc(behind, func(next *Task) bool {
		return slices.Contains(next.keys(), t.Key) && next.outdates(t, t.Key)
	})
}

// outdates reports whether a task may begin another lock that has one of the tokens
// which the change would replace.
func (t *Task) outdates(before *Task, key string) bool {
	switch {
	case t.Rollback || t.Heals:
		return false
	case t.Kind == vote.Store || t.Kind == vote.Remove:
		return true
	}
	return slices.ContainsFunc(t.locks(), func(n Name) bool { return n.Key == key && slices.Contains(before.From, n.Token) })
}

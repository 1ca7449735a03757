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
// missed both. AddRetry does the same for a change that was sent before the one kept.
func (o *Outbox) AddChange(t *Task) {
	if before := o.takeRetry(t.name()); before != nil && before.Token == t.From[0] {
		t.From = append(before.From, t.From...)
	}
	o.AddRetry(t)
}

// joinChange has a kept change replace the tokens of t too, a change that was sent before it
// and failed.
func (o *Outbox) joinChange(t *Task) {
	if kept := o.retries[t.name()]; kept != nil && kept.follows(t) && o.retryBytes+t.size() <= maxRetryBytes {
		o.retryBytes -= kept.size()
		kept.From = append(slices.Clone(t.From), kept.From...)
		o.retryBytes += kept.size()
	}
}

// goOnAs makes a change that failed the later ones that were sent behind it and done: they
// did not find the token that it was to set.
func (t *Task) goOnAs(behind []*Task, results []Result) {
	for i, next := range behind {
		if results[i].Done && next.follows(t) {
			t.From = append(slices.Clone(t.From), next.From...)
			t.Token, t.Until = next.Token, next.Until
		}
	}
}

// changedBy reports whether one of the tasks is a later change, which must stay behind t.
func (t *Task) changedBy(tasks []*Task) bool {
	return slices.ContainsFunc(tasks, func(next *Task) bool { return next.follows(t) })
}

// follows reports whether both are repeated changes, and t replaces the token that before
// sets.
func (t *Task) follows(before *Task) bool {
	return before.From != nil && t.Key == before.Key && slices.Contains(t.From, before.Token)
}

// SettleChanges sends or drops the repeated changes of the keys of t, a task that is
// handed to the master now. A task that frees the lock turns the change into releases by
// the tokens that it would replace; a release by another token goes behind it; a task that
// may begin another lock outdates it. takes reports whether t may be sent now.
func (o *Outbox) SettleChanges(t *Task, takes bool) {
	if len(o.retries) == 0 {
		return
	}
	for _, key := range t.keys() {
		name := Name{Key: key, Expiry: anyChange}
		before := o.retries[name]
		switch {
		case before == nil || t == before:
		case t.frees(before):
			for _, r := range o.takeRetry(name).releases(nil) {
				if t.Kind == vote.Remove || t.Maker != 0 {
					r.Maker = before.Maker // as in releaseOn: who has the lock may not know of it
				}
				if takes {
					o.append(r)
				} else {
					o.AddRetry(r)
				}
			}
		case t.Kind == vote.Release && !t.Rollback:
			if takes {
				o.append(o.takeRetry(name))
			}
		case t.outdates(before, key):
			o.takeRetry(name)
		case takes && slices.Contains(t.counts(), Name{Key: key, Token: before.Token}):
			o.append(o.takeRetry(name)) // what counts a copy with its token goes behind it
		}
	}
}

// Postpone keeps t, a repeated task that cannot be sent yet, unless a task that waits behind
// it outdates it, or takes the lock that t would free.
func (o *Outbox) Postpone(t *Task) {
	behind := o.queue[slices.Index(o.queue, t)+1:]
	switch {
	case !t.Rollback && t.From == nil && t.isIn(takersIn(behind)):
	case t.freedBy(behind):
		for _, r := range t.releases(takersIn(behind)) {
			o.AddRetry(r)
		}
	case !t.outdatedBy(behind):
		o.AddRetry(t)
	}
}

// freedBy reports whether one of the tasks sent after a change frees the lock. If the change
// failed, it would give the lock back then.
func (t *Task) freedBy(behind []*Task) bool {
	return t.From != nil && slices.ContainsFunc(behind, func(next *Task) bool { return next.frees(t) })
}

// frees reports whether the task frees the lock whose token a change has set.
func (t *Task) frees(before *Task) bool {
	return t.Key == before.Key && !t.Rollback && (t.Kind == vote.Remove || t.Kind == vote.Release && t.Token == before.Token)
}

// releases returns releases by the tokens that a change would replace, except of locks that
// were taken since.
func (t *Task) releases(taken map[Name]bool) (out []*Task) {
	for _, token := range t.From {
		r := &Task{Kind: vote.Release, Key: t.Key, Token: token, Until: t.Until}
		if !r.isIn(taken) {
			out = append(out, r)
		}
	}
	return out
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

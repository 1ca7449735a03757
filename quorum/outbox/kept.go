package outbox

import (
	"slices"
	"time"
)

// Rollbacks (V6) and repeats (V8) must be delivered: they are kept until the master has carried them
// out. Each names the copies that it is about, so it does no harm however late it comes, or if it
// comes twice. Those of one key go in their order, and before whatever else is sent for it: what
// follows may depend on them.

// Keep keeps a copy of a task until the master can be reached again, behind those of its
// key that are kept. It does nothing if there is no room.
func (o *Outbox) Keep(t *Task) { o.keep(t, false) }

// KeepFirst keeps tasks that were in the queue: before those of their keys that are kept, which
// came later.
func (o *Outbox) KeepFirst(tasks []*Task) {
	for _, t := range slices.Backward(tasks) {
		o.keep(t, true)
	}
}

func (o *Outbox) keep(t *Task, first bool) {
	if !o.hasRoom(t) {
		return
	}
	own, at := *t, len(o.kept[t.Key()])
	if first {
		at = 0
	}
	o.kept[t.Key()] = slices.Insert(o.kept[t.Key()], at, &own)
	o.keptTasks++
	o.keptBytes += t.size()
}

// hasRoom reports whether there is room to keep one more task. If there is not, it first drops those
// that have become useless, at most once a second.
func (o *Outbox) hasRoom(t *Task) bool {
	room := func() bool { return o.keptTasks < maxKept && o.keptBytes+t.size() <= maxKeptBytes }
	if now := o.now(); !room() && now-o.purged >= time.Second {
		o.purged = now
		for key := range o.kept {
			for _, t := range o.takeKept(key) {
				o.Keep(t)
			}
		}
	}
	return room()
}

// takeKept removes and returns the kept tasks of a key that are still of use, in their order.
func (o *Outbox) takeKept(key string) []*Task {
	all := o.kept[key]
	delete(o.kept, key)
	o.keptTasks -= len(all)
	for _, t := range all {
		o.keptBytes -= t.size()
	}
	now := o.now()
	return slices.DeleteFunc(all, func(t *Task) bool { return now >= t.Until })
}

// Kept returns how many tasks are kept, and about how many bytes they take.
func (o *Outbox) Kept() (tasks, bytes int) { return o.keptTasks, o.keptBytes }

// KeepsUseful reports whether a kept task would still be of use to the master.
func (o *Outbox) KeepsUseful() bool {
	now := o.now()
	for _, all := range o.kept {
		if slices.ContainsFunc(all, func(t *Task) bool { return now < t.Until }) {
			return true
		}
	}
	return false
}

// KeptDue reports whether the kept tasks are to be sent now (FlushKept).
func (o *Outbox) KeptDue() bool { return o.flush }

// RequestKept sets KeptDue, if sending the kept tasks now helps, as the caller judges.
func (o *Outbox) RequestKept(helps bool) { o.flush = o.flush || helps && o.keptTasks > 0 }

// FlushKept puts the kept tasks behind those that wait already, since one of these
// may belong to an attempt that a kept rollback undoes.
func (o *Outbox) FlushKept() {
	o.flush = false
	for key := range o.kept {
		for _, t := range o.takeKept(key) {
			o.append(t)
		}
	}
}

// MaxTries is how often a task that must be delivered is sent again at once. Then it waits for the
// next look, or for the next task of its key, unless one waits already.
const MaxTries = 3

// Resend sends again the failed tasks of a batch that must be delivered, before all that wait. If
// the connection has ended, they are lost with those. What must be delivered and was done behind a
// failed one of its key is sent again, too: it may have found what that was to change.
func (o *Outbox) Resend(b *Batch, results []Result) {
	var undelivered, again []*Task
	failed, waits := map[string]bool{}, map[string]bool{}
	for i, t := range b.Tasks {
		failed[t.Key()] = failed[t.Key()] || !results[i].Done && t.MustDeliver
		if failed[t.Key()] && t.MustDeliver {
			undelivered = append(undelivered, t)
		}
	}
	for _, t := range o.queue {
		waits[t.Key()] = true
	}
	for _, t := range slices.Backward(undelivered) {
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

package outbox

import (
	"slices"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// Name names a rollback by its attempt, and a release by its token.
type Name struct {
	Key, Token string
	Expiry     int64
}

// AddRetry keeps a task for when the master can be reached again.
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

// roomForRetry makes room for one more, if it can.
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

// takeRetry removes what is to be repeated under a name.
func (o *Outbox) takeRetry(name Name) *Task {
	t := o.retries[name]
	if t != nil {
		delete(o.retries, name)
		o.retryBytes -= t.size()
	}
	return t
}

// Undoes reports whether the rollback of an attempt is still to be carried out, or
// may be so again.
func (o *Outbox) Undoes(key, token string, expiry int64) bool {
	if len(o.retries) == 0 && len(o.undoing) == 0 {
		return false
	}
	name := Name{Key: key, Token: token, Expiry: expiry}
	return o.retries[name] != nil || o.undoing[name] > 0
}

// Undone notes that a rollback waits and is under way no more, once.
func (o *Outbox) Undone(t *Task) {
	if !t.Rollback {
		return
	}
	if name := t.name(); o.undoing[name] > 1 {
		o.undoing[name]--
	} else {
		delete(o.undoing, name)
	}
}

// Spare drops the rollback of what turns out to have created nothing, if it has
// not gone out.
func (o *Outbox) Spare(name Name) {
	o.takeRetry(name)
	if o.undoing[name] == 0 {
		return
	}
	o.queue = slices.DeleteFunc(o.queue, func(t *Task) bool {
		drop := t.Rollback && t.name() == name
		if drop {
			o.bytes -= t.size()
			o.Undone(t)
		}
		return drop
	})
}

// Repeats is how many tasks are to be repeated, and about how many bytes they take.
func (o *Outbox) Repeats() (tasks, bytes int) { return len(o.retries), o.retryBytes }

// Due reports whether what is to be repeated shall be tried now.
func (o *Outbox) Due() bool { return o.flush }

// FlushSoon has what is to be repeated tried, where that may help.
func (o *Outbox) FlushSoon(helps bool) { o.flush = o.flush || helps && len(o.retries) > 0 }

// HoldBack keeps what is to be repeated for later.
func (o *Outbox) HoldBack() { o.flush = false }

// FlushRetries puts what is to be repeated behind what waits already: that may be the late
// part of what it undoes.
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

// Repeat sends again what failed and must arrive: before all that waits, or
// over the next connection. A release behind which the same batch took the
// lock again is not repeated (V8); what was refused, or answered by an error,
// took nothing.
func (o *Outbox) Repeat(b *Batch, results []Result, over bool) {
	taken, behind := map[Name]bool{}, sync.OnceValue(o.takers)
	var again []*Task
	for i := len(b.Tasks) - 1; i >= 0; i-- {
		t := b.Tasks[i]
		if o := &results[i]; (o.Done || o.Code == "") && o.Ballot.Vote != vote.Refused {
			for _, name := range t.locks() {
				taken[name] = true
			}
		}
		name := Name{Key: t.Key, Token: t.Token}
		switch {
		case results[i].Done || !t.MustDeliver() || !t.Rollback && t.From == nil && taken[name]:
		case !over && (t.tries < MaxTries || !t.Rollback && behind()[name]):
			t.tries++
			if t.Rollback {
				o.undoing[t.name()]++
			}
			again = append(again, t)
			o.bytes += t.size()
		default:
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

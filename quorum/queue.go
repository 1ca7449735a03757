package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// What waits for a master: tasks are queued in the order in which they are sent, and
// go out in batches (batch.go). Who may not be sent now has a silent vote at once (M1).

// send hands a task to the master at a time, or returns false when its vote is
// silent at once (M1). It never blocks.
func (l *link) send(t *outbox.Task, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accept(t, now)
}

// ask hands an attempt's part to the master, likewise.
func (l *link) ask(a *attempt, i int, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return a.prepare(i, l, now) && l.accept(&a.tasks[i], now)
}

// accept is send. Needs mu.
func (l *link) accept(t *outbox.Task, now time.Duration) bool {
	takes := l.takes(t, now)
	l.outbox.SinceChanged(t, takes)
	if !takes {
		if t.MustDeliver() {
			l.outbox.AddRetry(t)
		}
		return false
	}
	if l.outbox.Put(t) {
		l.ready.Signal()
	}
	return true
}

// takes reports whether the task may be sent now.
func (l *link) takes(t *outbox.Task, now time.Duration) bool {
	switch {
	case !l.open || l.frozen(now):
		return false
	case l.outbox.Crowded(2), l.outbox.Crowded(1) && !t.MustDeliver():
		return false
	default:
		return !t.Creates() || l.grants() && l.db.silentFor(now) == 0
	}
}

// spare drops the rollback of what turns out to have created nothing, if it has
// not gone out.
func (l *link) spare(name outbox.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outbox.Spare(name)
}

// retryChange repeats to a master the new token of a lock that it may have under an old
// one, until the hold that began then is over.
func (l *link) retryChange(key, from, to string, hold, began time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outbox.AddChange(&outbox.Task{Kind: Extend, Key: key, Token: to, From: []string{from}, Until: began + hold})
	l.outbox.FlushSoon(l.open && !l.frozen(l.now()))
	if l.outbox.Due() {
		l.ready.Signal()
	}
}

// setsOut gives a change that is repeated its expiry and its deadline, when it goes
// out. Where that cannot be it stays, as long as the hold is not over.
// Needs mu.
func (l *link) setsOut(t *outbox.Task, now time.Duration) bool {
	left := t.Until - now
	if left <= 0 {
		return false
	}
	latest, ok := l.latest(roundHold(left), now)
	if !ok {
		l.outbox.AddRetry(t)
		return false
	}
	t.Prolongs, t.Deadline = expiryOf(latest, left, 0), l.deadline(now+l.cfg.Timeout)
	return true
}

// unheard is why the vote of a master that may vote is missing, of an attempt
// that began then: the others were enough to tell that there is no quorum, it
// refused what it was told (V14), too much waits for it (M1), its mark or its
// clock did not fit (M3, M5), or it is slow.
func (l *link) unheard(b *vote.Ballot, since time.Duration) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case b.Vote == vote.Awaited:
		return "no answer yet"
	case b.Vote == vote.Unasked:
		return "not asked"
	case l.fault.code != "" && l.fault.at >= since:
		return "answered " + l.fault.code
	case b.Void:
		return "not counted"
	case l.outbox.Crowded(1):
		return "overloaded"
	default:
		return "too late"
	}
}

// barrier returns a channel that is closed when all that waits now has been
// carried out, or will not be.
func barrier(l *link) <-chan struct{} {
	t := &outbox.Task{Kind: Read, Key: mark.Key, Passed: make(chan struct{})}
	if !l.send(t, l.now()) {
		close(t.Passed)
	}
	return t.Passed
}

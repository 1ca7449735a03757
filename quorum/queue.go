package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/vote"
)

// What waits for a master: tasks are queued in the order in which they are sent, and
// go out in batches (batch.go). Who may not be sent now has a silent vote at once (M1).

// send hands a task to the master at a time, or returns false when its vote is
// silent at once (M1). It never blocks.
func (l *link) send(t *task, now time.Duration) bool {
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
func (l *link) accept(t *task, now time.Duration) bool {
	takes := l.takes(t, now)
	if len(l.outbox.retries) > 0 {
		l.outbox.sinceChanged(t, takes)
	}
	if !takes {
		if t.mustDeliver() {
			l.outbox.addRetry(t)
		}
		return false
	}
	if l.outbox.put(t) {
		l.ready.Signal()
	}
	return true
}

// takes reports whether the task may be sent now.
func (l *link) takes(t *task, now time.Duration) bool {
	switch {
	case !l.open || l.frozen(now):
		return false
	case l.outbox.crowded(2), l.outbox.crowded(1) && !t.mustDeliver():
		return false
	default:
		return !t.creates() || l.grants() && l.db.silentFor(now) == 0
	}
}

// spare drops the rollback of what turns out to have created nothing, if it has
// not gone out.
func (l *link) spare(name retryKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outbox.spare(name)
}

// retryChange repeats to a master the new token of a lock that it may have under an old
// one, until the hold that began then is over.
func (l *link) retryChange(key, from, to string, hold, began time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &task{kind: Extend, key: key, token: to, from: []string{from}, until: began + hold}
	if before := l.outbox.takeRetry(t.name()); before != nil && before.token == from {
		// It may have missed both.
		t.from = append(before.from, from)
	}
	l.outbox.addRetry(t)
	l.outbox.due = l.outbox.due || l.open && !l.frozen(l.now())
	if l.outbox.due {
		l.ready.Signal()
	}
}

// setsOut gives a change that is repeated its expiry and its deadline, when it goes
// out. Where that cannot be it stays, as long as the hold is not over.
// Needs mu.
func (l *link) setsOut(t *task, now time.Duration) bool {
	left := t.until - now
	if left <= 0 {
		return false
	}
	latest, ok := l.latest(roundHold(left), now)
	if !ok {
		l.outbox.addRetry(t)
		return false
	}
	t.prolongs, t.deadline = expiryOf(latest, left, 0), l.deadline(now+l.cfg.Timeout)
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
	case l.outbox.crowded(1):
		return "overloaded"
	default:
		return "too late"
	}
}

package quorum

import "time"

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
	case !l.open || l.frozenAt(now):
		return false
	case l.outbox.crowded(2), l.outbox.crowded(1) && !t.mustDeliver():
		return false
	default:
		return !t.creates() || l.grants() && l.db.silentFor(now) == 0
	}
}

// barrier returns a channel that is closed when all that waits now has been
// carried out, or will not be.
func (l *link) barrier() <-chan struct{} {
	t := &task{kind: Read, key: MarkKey, passed: make(chan struct{})}
	if !l.send(t, l.now()) {
		close(t.passed)
	}
	return t.passed
}

// spare drops the rollback of what turns out to have created nothing, if it has
// not gone out.
func (l *link) spare(name retryKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outbox.spare(name)
}

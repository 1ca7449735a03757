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
	if len(l.retries) > 0 {
		l.sinceChanged(t, takes)
	}
	if !takes {
		if t.mustDeliver() {
			l.addRetry(t)
		}
		return false
	}
	if len(l.retries) > 0 {
		// What this redlockd takes now must not be freed by a release that it
		// was asked for before (V8): that goes first.
		for _, name := range t.locks() {
			if before := l.takeRetry(name); before != nil {
				l.append(before)
			}
		}
	}
	l.append(t)
	if l.pace.wakes(len(l.queue)) {
		l.ready.Signal()
	}
	return true
}

// append needs mu.
func (l *link) append(t *task) {
	if t.rollback {
		l.undoing[t.name()]++
	}
	l.queue = append(l.queue, t)
	l.bytes += t.size()
}

// takes reports whether the task may be sent now.
func (l *link) takes(t *task, now time.Duration) bool {
	switch {
	case !l.open || l.frozenAt(now):
		return false
	case l.crowded(2), l.crowded(1) && !t.mustDeliver():
		return false
	default:
		return !t.creates() || l.grants() && l.db.silentFor(now) == 0
	}
}

// crowded reports whether as much waits as may, or so many times as much. Needs mu.
func (l *link) crowded(times int) bool {
	return len(l.queue) >= times*maxQueued || l.bytes >= times*maxQueuedBytes
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

package quorum

import (
	"errors"
	"slices"
	"time"

	"github.com/redis/rueidis"
)

// serve sends batches over c until it is over, one at a time: what gathers
// meanwhile goes out in the next one (M2).
func (l *link) serve(c *connection) {
	b := &batch{}
	for l.next(c, b) {
		for _, t := range b.unsent {
			t.answer(ballot{vote: silent}, b.sent)
		}
		if len(b.tasks) == 0 {
			continue
		}
		results := c.do(c.commands(b)...)
		l.answered(c, b, results)
	}
}

// next waits for work and takes a batch of it, or returns false when c is
// over.
func (l *link) next(c *connection, b *batch) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gather(c)
	if l.conn != c {
		return false
	}
	if l.outbox.due {
		l.outbox.flushRetries()
	}
	l.take(b)
	if len(b.tasks) > 0 {
		l.busy, l.since = true, b.sent
	}
	return true
}

// take moves tasks from the queue into a batch, without those that nobody
// awaits any more. Needs mu.
func (l *link) take(b *batch) {
	b.clear()
	b.under, b.warm, b.sent = l.view.under, l.clock.Warm(), l.now()
	n := min(len(l.outbox.queue), maxBatch)
	for _, t := range l.outbox.queue[:n] {
		l.outbox.bytes -= t.size()
		if l.view.outdated(t) || t.from != nil && !l.setsOut(t, b.sent) {
			l.outbox.undone(t)
			continue
		}
		if t.creates() && !l.grants() {
			// It was queued before the quarantine began.
			b.unsent = append(b.unsent, t)
			continue
		}
		if t.att == nil || t.att.goesOut(int(t.index), b.sent) || t.mustDeliver() {
			l.hurry(t, b.sent)
			b.tasks = append(b.tasks, t)
		}
	}
	l.outbox.remove(n)
}

// hurry gives a release a deadline, where an earlier connection cannot be
// fenced (M3). Needs mu.
func (l *link) hurry(t *task, now time.Duration) {
	if !l.fenceless || t.rollback || t.kind != Release {
		return
	}
	if _, ok := l.clock.Latest(now); ok {
		t.deadline = l.deadline(now + l.cfg.Timeout)
	}
}

// answered hands out the votes of a batch, if it counts.
func (l *link) answered(c *connection, b *batch, results []rueidis.RedisResult) {
	over := results[len(results)-1].Error()
	l.mu.Lock()
	received := l.now()
	if l.conn == c {
		l.outbox.due = l.outbox.due || len(l.outbox.retries) > 0 && l.frozenAt(received)
		l.busy = false
		l.outbox.pace.answered(len(b.tasks), len(l.outbox.queue), received-b.sent, received)
	}
	if !broken(over) {
		l.traffic().batches.add(received - b.sent)
	}
	counts := l.counts(c, b, results, received)
	quarantined := b.under != nil && !(b.under.real && b.warm && l.votes())
	joining := b.under != nil && l.joins(b.under)
	b.outcomes = slices.Grow(b.outcomes, len(b.tasks))[:len(b.tasks)]
	bundles := !c.singly
	outcomes, answers := b.outcomes, b.read(c, results)
	failed := false
	for i, t := range b.tasks {
		outcomes[i] = outcomeOf(t, answers[i], quarantined)
		c.learn(t, outcomes[i])
		failed = failed || !outcomes[i].done && t.mustDeliver()
		if outcomes[i].code != "" && !outcomes[i].done {
			l.fault, l.faulted = outcomes[i].code, received
		}
		switch b := outcomes[i].ballot; {
		case !counts || t.att != nil && !l.countsFor(t.att.masters):
			outcomes[i].ballot = ballot{vote: silent}
		case joining:
			// No vote yet (M8), and healed like one in quarantine.
			outcomes[i].ballot = ballot{vote: silent, lost: b.lost || b.vote == absent}
		}
		outcomes[i].ballot.unsure = !outcomes[i].done && outcomes[i].code == ""
	}
	if failed {
		l.outbox.repeat(b, outcomes, broken(over))
	}
	for _, t := range b.tasks {
		l.outbox.undone(t)
	}
	l.mu.Unlock()

	if bundles && c.singly && !broken(over) {
		l.log.Info("a master rejected a script with several keys, sending them one by one from now on")
	}
	for i, t := range b.tasks {
		if code := outcomes[i].code; code != "" {
			l.events.masterErrors.Add(1)
			l.log.Debug("a master answered an error", "code", code)
		}
		t.answer(outcomes[i].ballot, received)
	}
	if broken(over) {
		c.close()
		l.drop(c, over)
	}
}

// counts looks at what stands behind the tasks: the mark and the clock (M3,
// M5). Needs mu.
func (l *link) counts(c *connection, b *batch, results []rueidis.RedisResult, received time.Duration) bool {
	micros, err := readTime(results[len(results)-1])
	if err != nil {
		return false
	}
	same := b.under == nil || l.sameMark(c, b, results[len(results)-2])
	return l.sawClock(micros, b.sent, received) && same && !l.view.superseded(l.holder())
}

// sameMark reports whether the mark still is the one that the batch went out
// under. Another real mark of the same server counts from the next batch on;
// anything else is the monitor's to judge. Needs mu.
func (l *link) sameMark(c *connection, b *batch, r rueidis.RedisResult) bool {
	raw, err := r.ToString()
	list := l.db.list().name
	if err == nil && raw == l.view.raw && l.view.under != nil {
		l.view.sent = b.sent
		return b.under.same(l.view.under) && l.view.under.counts(list)
	}
	if err != nil && !rueidis.IsRedisNil(err) {
		return false
	}
	m, err := parseMark(raw)
	if err == nil && m.runID == c.runID && m.name == l.name && m.counts(list) && m.db == l.db.number && !l.view.memory.knowsBetter(m) {
		l.learn(m, raw, b.sent)
		return b.under.same(m)
	}
	l.open = false
	l.wakeMonitor()
	return false
}

// countsFor reports whether the master's vote counts for a list that may not be in
// force any more: that of an attempt that began before it was replaced (M8).
// Needs mu.
func (l *link) countsFor(list *masterList) bool {
	if list == l.db.list() || l.view.under == nil {
		return true
	}
	list.saw(l.view.under.generation)
	return l.view.under.counts(list.name)
}

// learn takes a mark over that was looked at by what went out at sent. Needs
// mu.
func (l *link) learn(m *mark, raw string, sent time.Duration) {
	if int64(m.greatest) < l.db.raised.Load() {
		// Not all bear that any more: a mark was lost (M3).
		l.db.raised.Store(0)
	}
	l.view.learn(m, raw, sent, l.now())
	l.db.list().saw(m.generation)
	l.noteMark(m, sent)
}

// broken reports whether an error is not the master's answer but the end of the
// connection.
func broken(err error) bool {
	var re *rueidis.RedisError
	return err != nil && !errors.As(err, &re)
}

// drop ends the use of c: whatever waits is silent, and what must arrive is
// kept for the next connection.
func (l *link) drop(c *connection, cause error) {
	l.mu.Lock()
	if l.conn != c {
		l.mu.Unlock()
		return
	}
	lost := l.outbox.lose()
	l.conn, l.open = nil, false
	now := l.now()
	l.view.lost(now, l.cfg.Timeout)
	l.mu.Unlock()
	l.enter(nil, judgement{state: Down, reason: reasonOf(cause)})
	for _, t := range lost {
		t.answer(ballot{vote: silent}, now)
	}
}

package quorum

import (
	"errors"
	"time"

	"github.com/redis/rueidis"
)

// serve sends batches over c until it is over, one at a time: what gathers
// meanwhile goes out in the next one (M2).
func (l *lane) serve(c *connection) {
	for b := l.next(c); b != nil; b = l.next(c) {
		for _, t := range b.unsent {
			t.answer(ballot{vote: silent})
		}
		if len(b.tasks) == 0 {
			continue
		}
		results := c.do(c.commands(b)...)
		l.answered(c, b, results)
	}
}

// answered hands out the votes of a batch, if it counts.
func (l *lane) answered(c *connection, b *batch, results []rueidis.RedisResult) {
	l.mu.Lock()
	received := l.now()
	l.due = l.due || len(l.owed) > 0 && l.frozen()
	l.busy = false
	counts := l.counts(c, b, results, received)
	quarantined := b.under != nil && !(b.under.real && l.votes())
	outcomes := make([]outcome, len(b.tasks))
	var failed []*task
	again := false
	for i, t := range b.tasks {
		o := outcomeOf(t, results[i], quarantined)
		c.learn(t, o)
		if !o.done && t.mustArrive() {
			failed = append(failed, t)
			// Another error is tried again at the next look.
			again = again || o.code == "" || o.code == "NOSCRIPT"
		}
		if !counts {
			o.ballot = ballot{vote: silent}
		}
		outcomes[i] = o
	}
	if len(failed) > 0 {
		l.repeat(failed, again, broken(results[len(results)-1].Error()))
	}
	l.mu.Unlock()

	for i, t := range b.tasks {
		if code := outcomes[i].code; code != "" {
			l.events.masterErrors.Add(1)
			l.log.Debug("a master answered an error", "code", code)
		}
		t.answer(outcomes[i].ballot)
	}
	if err := results[len(results)-1].Error(); broken(err) {
		c.close()
		l.drop(c, err)
	}
}

// repeat keeps what failed and must arrive, unless what waits already takes
// the lock again: on a connection that is over nothing does. Needs mu.
func (l *lane) repeat(failed []*task, atOnce, over bool) {
	var taken map[owedKey]bool
	if !over {
		taken = l.retaken()
	}
	for _, t := range failed {
		if t.rollback || !taken[owedKey{key: t.key, token: t.token}] {
			l.owe(t)
		}
	}
	l.due = l.due || atOnce
}

// counts looks at what stands behind the tasks: the mark and the clock (M3,
// M5). Needs mu.
func (l *lane) counts(c *connection, b *batch, results []rueidis.RedisResult, received time.Duration) bool {
	micros, err := readTime(results[len(results)-1])
	if err != nil {
		return false
	}
	same := b.under == nil || l.sameMark(c, b, results[len(results)-2])
	return l.sawClock(micros, b.sent, received) && same
}

// sameMark is whether the mark still is the one that the batch went out
// under. Another real mark of the same server counts from the next batch on;
// anything else is the keeper's to judge. Needs mu.
func (l *lane) sameMark(c *connection, b *batch, r rueidis.RedisResult) bool {
	raw, err := r.ToString()
	if err == nil && raw == l.raw && l.under != nil {
		l.markSent = b.sent
		return b.under.same(l.under)
	}
	if err != nil && !rueidis.IsRedisNil(err) {
		return false
	}
	m, err := parseMark(raw)
	if err == nil && m.runID == c.runID && m.name == l.master.Name && m.masters == l.db.masters && m.db == l.db.number {
		l.learn(m, raw, b.sent)
		return b.under.same(m)
	}
	l.open = false
	l.wakeKeeper()
	return false
}

// learn takes a mark over that was looked at by what went out at sent. Needs
// mu.
func (l *lane) learn(m *mark, raw string, sent time.Duration) {
	l.under, l.raw, l.markSent = m, raw, sent
	switch {
	case m.real:
		l.memory.sawReal, l.memory.id, l.memory.beat = true, m.id, m.beat
		l.pending = 0
	case l.pending == 0:
		l.pending = l.now()
	}
}

// broken is whether an error is not the master's answer but the end of the
// connection.
func broken(err error) bool {
	var re *rueidis.RedisError
	return err != nil && !errors.As(err, &re)
}

// drop ends the use of c: whatever waits is silent, and what must arrive is
// kept for the next connection.
func (l *lane) drop(c *connection, cause error) {
	l.mu.Lock()
	if l.conn != c {
		l.mu.Unlock()
		return
	}
	lost := l.queue
	for _, t := range lost {
		if t.mustArrive() {
			l.owe(t)
		}
	}
	l.conn, l.open, l.queue, l.bytes = nil, false, nil, 0
	l.ready.Broadcast()
	l.mu.Unlock()
	l.wakeKeeper()

	l.enter(judgement{state: Down, reason: reasonOf(cause)})
	for _, t := range lost {
		t.answer(ballot{vote: silent})
	}
}

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
	for i, t := range b.tasks {
		o := outcomeOf(t, results[i], quarantined)
		c.learn(t, o)
		if !o.done && (o.code == "" || o.code == "NOSCRIPT") && t.mustArrive() {
			l.owe(t)
			l.due = true
		}
		if !counts {
			o.ballot = ballot{vote: silent}
		}
		outcomes[i] = o
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

// counts looks at what stands behind the tasks: the mark and the clock (M3,
// M5). Needs mu.
func (l *lane) counts(c *connection, b *batch, results []rueidis.RedisResult, received time.Duration) bool {
	micros, err := readTime(results[len(results)-1])
	if err != nil {
		return false
	}
	same := b.under == nil || l.sameMark(c, b.under, results[len(results)-2])
	return l.sawClock(micros, b.sent, received) && same
}

// sameMark is whether the mark still is the one that the batch went out
// under. Another real mark of the same server counts from the next batch on;
// anything else is the keeper's to judge. Needs mu.
func (l *lane) sameMark(c *connection, under *mark, r rueidis.RedisResult) bool {
	raw, err := r.ToString()
	if err == nil && raw == l.raw && l.under != nil {
		return under.same(l.under)
	}
	if err != nil && !rueidis.IsRedisNil(err) {
		return false
	}
	m, err := parseMark(raw)
	if err == nil && m.runID == c.runID && m.name == l.master.Name && m.masters == l.db.masters && m.db == l.db.number {
		l.learn(m, raw)
		return under.same(m)
	}
	l.open = false
	l.wakeKeeper()
	return false
}

// learn takes a mark over. Needs mu.
func (l *lane) learn(m *mark, raw string) {
	l.under, l.raw = m, raw
	if m.real {
		l.memory.sawReal, l.memory.id, l.memory.beat = true, m.id, m.beat
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
	l.conn, l.open, l.queue, l.bytes = nil, false, nil, 0
	for _, t := range lost {
		if t.mustArrive() {
			l.owe(t)
		}
	}
	l.ready.Broadcast()
	l.mu.Unlock()
	l.wakeKeeper()

	l.enter(judgement{state: Down, reason: reasonOf(cause)})
	for _, t := range lost {
		t.answer(ballot{vote: silent})
	}
}

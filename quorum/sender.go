package quorum

import (
	"errors"
	"slices"
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
	over := results[len(results)-1].Error()
	l.mu.Lock()
	received := l.now()
	if l.conn == c {
		l.due = l.due || len(l.owed) > 0 && l.frozenAt(received)
		l.busy = false
	}
	counts := l.counts(c, b, results, received)
	quarantined := b.under != nil && !(b.under.real && l.votes())
	outcomes := make([]outcome, len(b.tasks))
	failed := false
	for i, t := range b.tasks {
		outcomes[i] = outcomeOf(t, results[i], quarantined)
		c.learn(t, outcomes[i])
		failed = failed || !outcomes[i].done && t.mustArrive()
		if !counts {
			outcomes[i].ballot = ballot{vote: silent}
		}
	}
	if failed {
		l.repeat(b, outcomes, broken(over))
	}
	l.mu.Unlock()

	for i, t := range b.tasks {
		if code := outcomes[i].code; code != "" {
			l.events.masterErrors.Add(1)
			l.log.Debug("a master answered an error", "code", code)
		}
		t.answer(outcomes[i].ballot)
	}
	if broken(over) {
		c.close()
		l.drop(c, over)
	}
}

// maxTries is how often what must arrive is sent again at once; then it waits
// for the next look.
const maxTries = 3

// repeat sends again what failed and must arrive: before all that waits, or
// over the next connection. A release behind which the same batch took the
// lock again is not repeated (V8). Needs mu.
func (l *lane) repeat(b *batch, outcomes []outcome, over bool) {
	taken := map[owedKey]bool{}
	var again []*task
	for i := len(b.tasks) - 1; i >= 0; i-- {
		t := b.tasks[i]
		name := owedKey{key: t.key, token: t.token}
		switch {
		case t.creates() || t.heals:
			taken[name] = true
		case outcomes[i].done || !t.mustArrive() || !t.rollback && taken[name]:
		case !over && t.tries < maxTries:
			t.tries++
			again = append(again, t)
			l.bytes += t.size()
		default:
			l.owe(t)
		}
	}
	slices.Reverse(again)
	l.queue = append(again, l.queue...)
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
	l.mu.Unlock()
	l.enter(nil, judgement{state: Down, reason: reasonOf(cause)})
	for _, t := range lost {
		t.answer(ballot{vote: silent})
	}
}

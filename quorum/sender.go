package quorum

import (
	"errors"
	"slices"
	"time"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// sender sends what waits for a master over one connection, in a goroutine of its own.
// The link does not know it.
type sender struct {
	*link
	c *connection
}

// serve sends batches until the connection is over, one at a time: what gathers
// meanwhile goes out in the next one (M2).
func (s *sender) serve() {
	b := &batch{}
	for s.next(b) {
		for _, t := range b.unsent {
			t.answer(vote.Ballot{Vote: vote.Silent}, b.sent)
		}
		if len(b.tasks) == 0 {
			continue
		}
		results := s.c.do(s.c.commands(b)...)
		s.answered(b, results)
	}
}

// next waits for work and takes a batch of it, or returns false when c is
// over.
func (s *sender) next(b *batch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gather()
	if s.conn != s.c {
		return false
	}
	if s.outbox.due {
		s.outbox.flushRetries()
	}
	s.take(b)
	if len(b.tasks) > 0 {
		s.unanswered.busy, s.unanswered.since = true, b.sent
	}
	return true
}

// take moves tasks from the queue into a batch, without those that nobody
// awaits any more. Needs mu.
func (s *sender) take(b *batch) {
	b.clear()
	b.under, b.warm, b.sent = s.view.Under, s.clock.Warm(), s.now()
	n := min(len(s.outbox.queue), maxBatch)
	for _, t := range s.outbox.queue[:n] {
		s.outbox.bytes -= t.size()
		if t.rollback && s.view.Another(t.mark) || t.from != nil && !s.setsOut(t, b.sent) {
			s.outbox.undone(t)
			continue
		}
		if t.creates() && !s.grants() {
			// It was queued before the quarantine began.
			b.unsent = append(b.unsent, t)
			continue
		}
		if t.att == nil || t.att.goesOut(int(t.index), b.sent) || t.mustDeliver() {
			s.hurry(t, b.sent)
			b.tasks = append(b.tasks, t)
		}
	}
	s.outbox.remove(n)
}

// hurry gives a release a deadline, where an earlier connection cannot be
// fenced (M3). Needs mu.
func (s *sender) hurry(t *task, now time.Duration) {
	if !s.fenceless || t.rollback || t.kind != Release {
		return
	}
	if _, ok := s.clock.Latest(now); ok {
		t.deadline = s.deadline(now + s.cfg.Timeout)
	}
}

// answered hands out the votes of a batch, if it counts.
func (s *sender) answered(b *batch, results []rueidis.RedisResult) {
	over := results[len(results)-1].Error()
	s.mu.Lock()
	received := s.now()
	if s.conn == s.c {
		s.outbox.due = s.outbox.due || len(s.outbox.retries) > 0 && s.frozen(received)
		s.unanswered.busy = false
		s.outbox.pace.answered(len(b.tasks), len(s.outbox.queue), received-b.sent, received)
	}
	if !broken(over) {
		s.traffic.batches.add(received - b.sent)
	}
	counts := s.counts(b, results, received)
	quarantined := b.under != nil && !(b.under.Real && b.warm && s.votes())
	joining := b.under != nil && s.joins(b.under)
	b.outcomes = slices.Grow(b.outcomes, len(b.tasks))[:len(b.tasks)]
	bundles := !s.c.singly
	outcomes, answers := b.outcomes, b.read(s.c, results)
	failed := false
	for i, t := range b.tasks {
		outcomes[i] = outcomeOf(t, answers[i], quarantined)
		s.c.learn(t, outcomes[i])
		failed = failed || !outcomes[i].done && t.mustDeliver()
		if outcomes[i].code != "" && !outcomes[i].done {
			s.fault.code, s.fault.at = outcomes[i].code, received
		}
		switch b := outcomes[i].ballot; {
		case !counts || t.att != nil && !s.countsFor(t.att.masters):
			outcomes[i].ballot = vote.Ballot{Vote: vote.Silent}
		case joining:
			// No vote yet (M8), and healed like one in quarantine.
			outcomes[i].ballot = vote.Ballot{Vote: vote.Silent, Lost: b.Lost || b.Vote == vote.Absent}
		}
		outcomes[i].ballot.Unsure = !outcomes[i].done && outcomes[i].code == ""
	}
	if failed {
		s.outbox.repeat(b, outcomes, broken(over))
	}
	for _, t := range b.tasks {
		s.outbox.undone(t)
	}
	s.mu.Unlock()

	if bundles && s.c.singly && !broken(over) {
		s.log.Info("a master rejected a script with several keys, sending them one by one from now on")
	}
	for i, t := range b.tasks {
		if code := outcomes[i].code; code != "" {
			s.events.masterErrors.Add(1)
			s.log.Debug("a master answered an error", "code", code)
		}
		t.answer(outcomes[i].ballot, received)
	}
	if broken(over) {
		s.c.close()
		s.drop(s.c, over)
	}
}

// counts looks at what stands behind the tasks: the mark and the clock (M3,
// M5). Needs mu.
func (s *sender) counts(b *batch, results []rueidis.RedisResult, received time.Duration) bool {
	micros, err := readTime(results[len(results)-1])
	if err != nil {
		return false
	}
	same := b.under == nil || s.sameMark(b, results[len(results)-2])
	return s.sawClock(micros, b.sent, received) && same && !s.view.Superseded(s.holder())
}

// sameMark reports whether the mark still is the one that the batch went out
// under. Another real mark of the same server counts from the next batch on;
// anything else is the monitor's to judge. Needs mu.
func (s *sender) sameMark(b *batch, r rueidis.RedisResult) bool {
	raw, err := r.ToString()
	list := s.db.list().name
	if err == nil && raw == s.view.Raw && s.view.Under != nil {
		s.view.Sent = b.sent
		return b.under.Same(s.view.Under) && s.view.Under.Counts(list)
	}
	if err != nil && !rueidis.IsRedisNil(err) {
		return false
	}
	m, err := mark.Parse(raw)
	if err == nil && m.RunID == s.c.runID && m.Name == s.name && m.Counts(list) && m.DB == s.db.number && !s.view.Memory.KnowsBetter(m) {
		s.learn(m, raw, b.sent)
		return b.under.Same(m)
	}
	s.open = false
	s.wakeMonitor()
	return false
}

// broken reports whether an error is not the master's answer but the end of the
// connection.
func broken(err error) bool {
	var re *rueidis.RedisError
	return err != nil && !errors.As(err, &re)
}

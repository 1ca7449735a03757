package cluster

import (
	"runtime"
	"time"

	"github.com/redis/rueidis"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// sender sends what waits for a master over one connection, in a goroutine of its own.
// The link does not know it.
type sender struct {
	*Link
	c *connection
}

// serve sends batches, one at a time, until the connection is over: tasks that gather
// meanwhile go out in the next batch (M2).
func (s *sender) serve() {
	b := &outbox.Batch{}
	for s.next(b) {
		for _, t := range b.Unsent {
			t.Answer(vote.Ballot{Vote: vote.Silent}, b.Sent)
		}
		if len(b.Tasks) == 0 {
			s.c.passTurn()
			continue
		}
		replies := s.c.call(s.c.dialect.Commands(b)...)
		s.answered(b, replies)
	}
}

// Before it sends, a sender yields to other goroutines at most maxYields times, and not
// again once that has taken maxGather: where thousands can run, once is long enough.
const (
	maxYields = 8
	maxGather = 500 * time.Microsecond
)

// gather waits for work; while many clients are busy, for half of them (outbox.Pace).
// Then it yields to other goroutines as long as that brings more tasks, so that tasks
// that come at the same time go out in one batch. The caller must hold mu. It releases mu
// while it waits.
func (s *sender) gather() {
	var began time.Duration
	for yields, n := 0, 0; s.conn == s.c; {
		waiting, _ := s.outbox.Queued()
		switch {
		case !s.open || waiting == 0 && !s.outbox.KeptDue() || s.outbox.Pace.Waits(waiting, s.now):
			s.ready.Wait()
			yields, n = 0, 0
			continue
		case waiting <= n || yields == maxYields:
			return
		case yields == 0:
			began = s.now()
		case s.now()-began >= maxGather:
			return
		}
		yields, n = yields+1, waiting
		s.mu.Unlock()
		runtime.Gosched()
		s.mu.Lock()
	}
}

// next waits for work and for the turn to call, and takes a batch; it returns false,
// without the turn, when c is over. What goes out is decided with the turn (M1): a look
// may be under way for longer than an attempt has time.
func (s *sender) next(b *outbox.Batch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.gather(); s.conn == s.c; s.gather() {
		s.mu.Unlock()
		s.c.waitTurn()
		s.mu.Lock()
		if s.conn != s.c || !s.open {
			s.c.passTurn()
			continue
		}
		if s.outbox.KeptDue() {
			s.outbox.FlushKept()
		}
		s.take(b)
		if len(b.Tasks) > 0 {
			s.unanswered.busy, s.unanswered.since = true, b.Sent
		}
		return true
	}
	return false
}

// take moves tasks from the queue into a batch, and drops those that must not go out any
// more. The caller must hold mu.
func (s *sender) take(b *outbox.Batch) {
	b.Clear()
	b.Under, b.Warm, b.Sent = s.view.Under, s.clock.Warm(), s.now()
	next, mayCreate := s.outbox.Next(), s.mayCreate(b.Sent)
	var kept []*outbox.Task
	for _, t := range next {
		switch {
		case t.Changes() && b.Sent >= t.Until: // useless by now
		case follows(kept, t), t.Changes() && !s.stampChange(t, b.Sent):
			kept = append(kept, t)
		case t.Creates() && !mayCreate, // queued before the quarantine or the silence began
			t.Asked != nil && !t.Asked.By.GoesOut(int(t.Index), b.Sent): // it would come too late
			b.Unsent = append(b.Unsent, t)
		default:
			if t.Missed != nil {
				s.stampMissed(t.Missed, b.Sent)
			}
			s.addReleaseDeadline(t, b.Sent)
			b.Tasks = append(b.Tasks, t)
		}
	}
	s.outbox.Remove(len(next))
	s.outbox.KeepFirst(kept)
}

// answered passes the turn and hands the votes of a batch to their attempts; they are
// silent if the batch does not count. Results are worked out without the lock, for which
// all who ask this master wait.
func (s *sender) answered(b *outbox.Batch, replies []rueidis.RedisResult) {
	received, over := s.now(), replies[len(replies)-1].Error()
	results := b.Read(&s.c.dialect, replies)
	micros, _ := outbox.ReadTime(replies[len(replies)-1])
	code, failed := b.Faults(results)
	s.mu.Lock()
	// The turn is passed only now: a look that comes after this batch is taken over after it.
	s.c.passTurn()
	s.noteAnswer(b, received)
	if !broken(over) {
		s.traffic.batches.Add(received - b.Sent)
	}
	if code != "" {
		s.fault.code, s.fault.at = code, received
	}
	standing, unsettled := s.standing(b, replies, micros, received), s.unsettled(b.Under)
	list, under := outbox.List(s.db.List()), s.view.Under
	if failed {
		s.outbox.Resend(b, results)
	}
	s.mu.Unlock()

	for i, t := range b.Tasks {
		r, its := &results[i], standing
		its.Fits = its.Fits && (t.Asked == nil || t.Asked.List == list || counts(under, t.Asked.List))
		r.Weigh(t, its.Weight(), micros/1000)
		r.Ballot.Unsettled = unsettled
		r.Ballot.MayAct = !r.Done && !r.Late && r.Code == ""
		if r.Code != "" {
			s.events.masterErrors.Add(1)
			s.log.Debug("a master answered an error", "code", r.Code)
		}
		t.Answer(r.Ballot, received)
	}
	if broken(over) {
		s.c.close()
		s.drop(s.c, over)
	}
}

// noteAnswer notes that the master has answered a batch, and how quickly, if c still is the
// connection in use. The caller must hold mu.
func (s *sender) noteAnswer(b *outbox.Batch, received time.Duration) {
	if s.conn == s.c {
		s.outbox.RequestKept(s.frozen(received))
		s.unanswered.busy = false
		waiting, _ := s.outbox.Queued()
		s.outbox.Pace.Answered(len(b.Tasks), waiting, received-b.Sent, received)
	}
}

// standing returns what is known of the master behind a batch, whose mark and clock were read
// after its tasks; micros is 0 if the clock was not. The caller must hold mu.
func (s *sender) standing(b *outbox.Batch, replies []rueidis.RedisResult, micros int64, received time.Duration) vote.Standing {
	return vote.Standing{
		Fits:           s.fits(b, replies, micros, received), // first: it takes over what was read
		Joins:          b.Under != nil && s.joins(b.Under),
		Quarantined:    b.Under != nil && !(b.Under.Real && b.Warm && s.votes()),
		MayHaveStepped: s.mayHaveStepped(received),
	}
}

// fits checks the mark and the clock, which were read after the batch's tasks (M3, M5).
// The caller must hold mu.
func (s *sender) fits(b *outbox.Batch, replies []rueidis.RedisResult, micros int64, received time.Duration) bool {
	if micros == 0 {
		return false
	}
	same := b.Under == nil || s.sameMark(b, replies[len(replies)-2])
	return s.byMark(func(first *Link) bool {
		return first.sawClock(micros, b.Sent, s.now()) && !first.view.Superseded(first.seated())
	}) && same
}

// sameMark reports whether the mark still is the one that the batch went out under.
// Another real mark of the same server counts from the next batch on; anything else the
// monitor must judge. The caller must hold mu.
func (s *sender) sameMark(b *outbox.Batch, r rueidis.RedisResult) bool {
	raw, seal, err := s.c.dialect.ReadMark(r)
	list := s.db.List().name
	if err != nil {
		return false
	}
	if raw == s.view.Raw && s.view.Under != nil && s.sealed(s.view.Under, seal) {
		s.view.Sent = b.Sent
		return b.Under.Same(s.view.Under) && s.view.Under.Counts(list)
	}
	m, err := mark.Parse(raw)
	if err == nil && m.RunID == s.c.runID && m.Name == s.Name && m.Counts(list) && s.sealed(m, seal) && !s.view.Memory.NewerThan(m) {
		s.learn(m, raw, b.Sent)
		return b.Under.Same(m)
	}
	if err != nil || !s.sealed(m, seal) && !s.sealed(b.Under, seal) {
		s.lose(b.Under)
	}
	s.open = false
	s.wakeMonitor()
	if s.zero != nil {
		s.zero.wakeMonitor()
	}
	return false
}

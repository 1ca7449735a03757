package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Tasks for a master are queued in the order in which they are sent, and go out in
// batches (sender.go). A task that may not be sent now gets a silent vote at once (M1).

// Send hands a task to the master; now is the time. It returns false if the vote is
// silent at once (M1); a task that must be delivered is then kept for the next
// connection. It never blocks.
func (l *Link) Send(t *outbox.Task, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accept(t, now)
}

// Preparer is an attempt, which makes its own tasks.
type Preparer interface {
	// Prepare makes the task for the master with this index on the attempt's list; false
	// if the master cannot be asked now. The link's mutex is held.
	Prepare(index int, l Locked, now time.Duration) (*outbox.Task, bool)
}

// Locked is a link whose mutex is held, for a Preparer: all that a task is made of must
// fit together. It must not be used after Prepare has returned.
type Locked struct{ link *Link }

// Watch returns what is known of the master's clock.
func (l Locked) Watch() *clock.Watch { return l.link.clock }

// Outbox returns the tasks that wait for the master in this database.
func (l Locked) Outbox() *outbox.Outbox { return &l.link.outbox }

// Clock returns the earliest and the latest possible reading of the master's clock now, in
// its own milliseconds (V6); false where the clock is not known, or the master may not be
// asked to hold a lock for hold (M3).
func (l Locked) Clock(hold, now time.Duration) (earliest, latest int64, ok bool) {
	return l.link.shows(hold, now)
}

// Deadline returns the latest reading of the master's clock, in its own milliseconds, at
// which a script may act, for an attempt whose time is over at until, by our clock (V6).
func (l Locked) Deadline(until time.Duration) int64 { return l.link.deadline(until) }

// Ask lets an attempt make its task for the master, and hands that over as Send does.
func (l *Link) Ask(a Preparer, index int, now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := a.Prepare(index, Locked{l}, now)
	return ok && l.accept(t, now)
}

// accept is Send. The caller must hold mu.
func (l *Link) accept(t *outbox.Task, now time.Duration) bool {
	takes := l.takes(t, now)
	if !takes {
		if t.MustDeliver {
			l.outbox.Keep(t)
		}
		return false
	}
	if l.outbox.Put(t) {
		l.ready.Signal()
	}
	return true
}

// takes reports whether the task may be sent now. The caller must hold mu.
func (l *Link) takes(t *outbox.Task, now time.Duration) bool {
	switch {
	case !l.open || l.frozen(now):
		return false
	case l.outbox.Crowded(2), l.outbox.Crowded(1) && !t.MustDeliver && t.Kind != vote.Release:
		return false
	default:
		return !t.Creates() || l.mayCreate(now)
	}
}

// mayCreate reports whether the master may be asked to create locks at the time now. The
// caller must hold mu.
func (l *Link) mayCreate(now time.Duration) bool { return l.grants() && l.db.silentFor(now) == 0 }

// WhyMissing says, for operators, why a voting master's vote is missing from an attempt
// for hold that began at since, by our clock: the other votes already showed that there is
// no quorum, the master answered an error (V14), too much waits for it (M1), its mark or its
// clock did not fit (M3, M5), or it is slow. asked reports whether it could be asked at all;
// if not, its time is not known well enough (V6), or its mark must record hold first (M3).
func (l *Link) WhyMissing(b *vote.Ballot, since time.Duration, asked bool, hold time.Duration) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case b.Vote == vote.Awaited:
		return "no answer yet"
	case b.Vote == vote.Unasked:
		return "not asked"
	case l.fault.code != "" && l.fault.at >= since:
		return "answered " + l.fault.code
	case b.Discounted:
		return "not counted"
	case l.outbox.Crowded(1):
		return "overloaded"
	case asked:
		return "too late"
	}
	_, _, known := l.clock.Shows(l.now())
	switch {
	case !known:
		return fmt.Sprintf("not looked at for %v", clock.LookAge)
	case l.view.Under != nil && !allowsHold(l.view.Under, hold):
		return "its mark does not bear this TTL yet"
	default:
		return "not asked"
	}
}

// barrier returns a channel that is closed when all tasks that wait now have been carried
// out, or cannot be.
func barrier(l *Link) <-chan struct{} {
	passed := make(chan struct{})
	t := &outbox.Task{Kind: vote.Read, Effects: []outbox.Effect{{Key: mark.Key}}, OnAnswer: func(vote.Ballot) { close(passed) }}
	if !l.Send(t, l.now()) {
		close(passed)
	}
	return passed
}

// owes reports whether a task is kept that is to be repeated on the master.
func (l *Link) owes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outbox.KeepsUseful()
}

// AskOne asks a master something that is no vote and waits for the answer, for at most an
// operation's Stay or until ctx is over. It returns false if no answer has come by then,
// or if the answer does not count (M3).
func AskOne(ctx context.Context, l *Link, t *outbox.Task) (vote.Ballot, bool) {
	answer := make(chan vote.Ballot, 1)
	t.OnAnswer = func(b vote.Ballot) { answer <- b }
	if !l.Send(t, l.now()) {
		return vote.Ballot{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Stay())
	defer cancel()
	select {
	case b := <-answer:
		return b, b.Vote != vote.Silent
	case <-ctx.Done():
		return vote.Ballot{}, false
	}
}

// KnowsAllLocks reports whether the master can be asked now, and has forgotten nothing
// (M4).
func (l *Link) KnowsAllLocks() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open && l.votes() && !l.frozen(l.now())
}

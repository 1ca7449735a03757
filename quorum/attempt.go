package quorum

import (
	"slices"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// attempt is one fan-out of one operation to all masters (V1), from its first byte to
// its verdict, and its rollback and repair afterwards.
type attempt struct {
	call *call
	op   *Op
	// asked and effects are the part that its tasks share.
	asked   outbox.Asked
	effects []outbox.Effect
	// then is called with the verdict.
	then func(*attempt, Verdict)
	// id names the attempt in what it gives to copies, lock what it stores over others (V6).
	id, lock tail.ID
	// masters is the list of masters when the attempt was made (M8); ballots and tasks are in
	// its order.
	masters *cluster.List
	// seats tells which servers had the masters' seats when the attempt was made (M9).
	seats *mark.Seats
	// mark is the hold that the masters' marks must bear.
	mark time.Duration

	mu sync.Mutex
	// box has the votes.
	box ballotBox
	// over reports whether the attempt has its verdict; later votes do not count.
	// unwanted reports whether the operation must not take effect any more.
	over     bool
	unwanted bool
	// won reports whether the verdict was Won.
	won bool
	// asking reports whether the masters are still being asked. The verdict waits until
	// all have been, so that no later operation overtakes this one.
	asking bool
	times  attemptTimes
	due    due
	tasks  []outbox.Task
	copies []outbox.Copy
	// result is the outcome, promise its grant.
	result  Outcome
	promise grant

	// Room for one effect, and for the tasks of the usual number of masters, so that an attempt is
	// a single allocation.
	oneEffect [1]outbox.Effect
	fewTasks  [fewMasters]outbox.Task
	fewCopies [fewMasters]outbox.Copy
}

// attemptTimes are the times of an attempt, by the monotonic clock.
type attemptTimes struct {
	began time.Duration
	// until is when the attempt's time is over, known when the verdict became certain,
	// ended when the attempt ended and its verdict was passed on.
	until, known, ended time.Duration
}

func newAttempt(c *call, op *Op, then func(*attempt, Verdict)) *attempt {
	masters := c.db.List()
	a := &attempt{call: c, op: op, then: then, masters: masters, seats: masters.Seats(), effects: op.effects}
	a.id = tail.NewID()
	a.lock = a.id
	if op.renews != nil {
		a.id = op.renews.id
	}
	if op.TTL > 0 {
		a.mark = cluster.RoundHold(c.q.hold(op.TTL))
	}
	a.asked = outbox.Asked{By: a, List: masters}
	a.due.of = a
	if a.effects == nil {
		a.oneEffect[0] = c.effect(op, State{})
		a.effects = a.oneEffect[:]
	}
	if slices.ContainsFunc(a.effects, func(e outbox.Effect) bool { return e.Gives() && e.Final() }) {
		a.lock = tail.NewID()
	}
	size := len(masters.Links)
	a.box.open(size, masters.Needs)
	if n := size * len(a.effects); n <= fewMasters {
		a.tasks, a.copies = a.fewTasks[:size], a.fewCopies[:n]
	} else {
		a.tasks, a.copies = make([]outbox.Task, size), make([]outbox.Copy, n)
	}
	return a
}

// Vote counts one master's answer, which arrived at the time now ([outbox.Asker]).
func (a *attempt) Vote(i int, b vote.Ballot, now time.Duration) {
	a.mu.Lock()
	if a.over {
		a.late(i, b)
		return
	}
	switch was := &a.box.ballots[i]; {
	case was.Vote == vote.Awaited:
		*was = b
		was.Discounted = b.Vote == vote.Silent && !b.MayAct
	case was.MayAct && !b.MayAct:
		was.MayAct = false // too late to count
	default:
		a.mu.Unlock()
		return
	}
	if i == a.box.first && (b.Vote == vote.Created || b.Extended()) {
		a.askOthers(now)
		return
	}
	a.decide(now)
}

// decide ends the attempt if the verdict is certain at the time now. The caller must
// hold mu; decide releases it.
func (a *attempt) decide(now time.Duration) {
	if a.over || a.asking || a.box.tooFew() {
		a.mu.Unlock()
		return
	}
	v, certain := a.count()
	if a.box.refusedFirst() && a.box.needs.AnswerOf(a.box.ballots) != vote.Mute {
		v, certain = Split, true
	}
	if certain && v == Held && a.op.Kind == Read {
		t := vote.Count(a.box.ballots, a.box.needs)
		certain = t.Awaited == 0 || !a.box.mayLive(&t) && !a.box.severalLocks(t.Most)
	}
	if certain && a.times.known == 0 {
		a.times.known = now
	}
	if !certain || a.op.Kind != Release && a.mayAct() {
		a.mu.Unlock()
		return
	}
	a.end(v, now)
}

// count returns the verdict on the votes so far. What the marks, among them those behind the
// votes, say of the seats and of a change of the list is taken over before (M8, M9). The caller
// must hold mu.
func (a *attempt) count() (v Verdict, certain bool) {
	a.masters.WithoutMoved(a.box.ballots, a.seats)
	a.masters.WithoutJoining(a.box.ballots)
	a.box.needs = a.masters.NeedsNow()
	return vote.VerdictOf(a.op.question(), a.box.ballots, a.box.needs)
}

// harmsIfLate reports whether the operation would do harm if a master carried it out
// after the client was answered: it might end, or shorten, a lock that was granted
// since, or take a turn for the last one that is not (C8). Then the verdict waits until no
// master can carry it out any more (V6); what has freed a lock does not wait for that.
func (a *attempt) harmsIfLate() bool {
	switch a.op.Kind {
	case Remove, Expire, Store, transact:
		return true
	case Release:
		return a.call.op.Expect != nil
	case Extend:
		return a.effects[0].Does == outbox.Sets || a.effects[0].Changes()
	default:
		return false
	}
}

// mayAct reports whether a master may still carry the operation out and the verdict has
// to wait for that. The caller must hold mu.
func (a *attempt) mayAct() bool {
	return a.harmsIfLate() && a.box.mayAct()
}

// timeout turns all missing votes into silent ones. If the operation may still act, it
// waits once more, until the masters' clocks have passed the deadline of its scripts.
func (a *attempt) timeout() {
	a.mu.Lock()
	now := a.call.q.now()
	if a.over || a.asking {
		if !a.over {
			a.call.q.deadlines.add(&a.due, now+time.Millisecond, now)
		}
		a.mu.Unlock()
		return
	}
	for i := range a.box.ballots {
		if v := a.box.ballots[i].Vote; v == vote.Awaited || v == vote.Unasked {
			a.box.ballots[i] = vote.Ballot{Vote: vote.Silent, MayAct: a.box.wentOut(i)}
		}
	}
	if a.times.known == 0 {
		a.times.known = now
	}
	if wait := a.times.until + a.call.q.cfg.Grace(); now < wait && a.mayAct() {
		a.call.q.deadlines.add(&a.due, wait, now)
		a.mu.Unlock()
		return
	}
	v, _ := a.count()
	a.end(v, now)
}

// end ends the attempt with a verdict, rolls it back if it was lost, and continues the
// call. The caller must hold mu; end releases it.
func (a *attempt) end(v Verdict, now time.Duration) {
	a.over, a.times.ended = true, now
	a.call.q.deadlines.remove(&a.due)
	if a.times.known > 0 {
		now = a.times.known
	}
	if v == Won && a.promises() && now-a.times.began > a.call.q.cfg.Timeout {
		v = Undecided // won, but too late (V2)
		a.call.q.counts.lateGrants.Add(1)
	}
	a.unwanted, a.won = v != Won, v == Won
	for i := range a.box.ballots {
		a.masters.Links[i].VoteCounts().Count(a.box.ballots[i].Vote, false)
	}
	a.mu.Unlock()
	switch v {
	case Won:
		a.repeat()
		a.mend()
		return
	case Held:
		// The next client is refused as well, so there is time to wait for the other
		// answers, most of which are refusals.
		a.rollback(func(v vote.Vote) bool { return v == vote.Created || v == vote.Silent })
	default:
		a.rollback(mayHaveCreated)
	}
	a.repeat()
	a.then(a, v)
}

// votes returns the ballots as they are now; late votes do not change what it returns.
func (a *attempt) votes() *ballotBox {
	a.mu.Lock()
	defer a.mu.Unlock()
	box := a.box
	box.ballots = slices.Clone(box.ballots)
	return &box
}

// promises reports whether winning grants the client a lock for some time. A new token that
// keeps the TTL grants nothing that the client did not have.
func (a *attempt) promises() bool {
	switch a.op.Kind {
	case Acquire, AcquireOrExtend:
		return true
	case Extend:
		return a.effects[0].Does != outbox.Keeps || !a.effects[0].Changes()
	case transact:
		return a.op.TTL > 0 // else it only frees
	default:
		return false
	}
}

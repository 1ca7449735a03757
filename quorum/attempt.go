package quorum

import (
	"cmp"
	"sync"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// attempt is one fan-out of one operation to all masters (V1), from its first
// byte to its verdict, and what must be undone of it afterwards.
type attempt struct {
	call *call
	op   *Op
	// asked is what its tasks know of it.
	asked outbox.Asked
	// then is called with the verdict; nil is the call's own.
	then func(*attempt, Verdict)
	// masters are those of the list at the beginning (M8); ballots, tasks and
	// the others go by their order.
	masters *cluster.List
	// hold is what the masters are given, mark what their marks must bear.
	hold, mark time.Duration
	// names is whether it gives copies a name of its own (V6).
	names bool
	// before has won, and found a later expiry: this one may make it earlier (V6).
	before *attempt

	mu    sync.Mutex
	times attemptTimes
	// box has its votes.
	box ballotBox
	// over is whether the verdict has fallen; votes that come later count
	// for nothing. lost is whether what was asked for is not wanted any more.
	over bool
	lost bool
	// gone is whether the verdict was that there is no such lock.
	gone bool
	// asking is while the masters are being asked: until all are the verdict
	// waits, so that nothing that follows it overtakes.
	asking  bool
	wasTold bool
	// pending is what keeps the attempt open (names.go): each master that has
	// not answered, and the client as long as it was not told.
	pending int
	due     due
	tasks   []outbox.Task
	// others is whether other open attempts, or locks that may live, have its key
	// and token, openOne how it is noted among the open ones (names.go).
	others  bool
	openOne openAttempt
	// term is what was told last of the key, nil if that is not known; terms are
	// what it gives itself.
	term  *term
	terms []*term
	// result is its outcome, promise the grant of that.
	result  Outcome
	promise grant

	// Room for the tasks of up to as many masters as most have, so that an attempt
	// is one allocation.
	oneTerm  [1]*term
	fewTasks [fewMasters]outbox.Task
}

// attemptTimes are the times of an attempt.
type attemptTimes struct {
	began time.Duration
	// until is when its time is over, known since when its verdict is, and
	// ended when that was told.
	until, known, ended time.Duration
}

func newAttempt(c *call, op *Op, then func(*attempt, Verdict)) *attempt {
	masters := c.db.List()
	a := &attempt{call: c, op: op, then: then, masters: masters}
	a.asked = outbox.Asked{By: a, List: masters, NewToken: op.NewToken, Replace: op.Replace, IfPresent: op.IfPresent, Keeps: op.keeps, Renews: op.renews != nil, Steps: op.steps}
	a.box.open(len(masters.Links), masters.Needs)
	a.box.needs.Gone, a.box.needs.Changing = masters.Gone(), masters.Changing()
	a.due.of = a
	a.terms = a.oneTerm[:0]
	if n := len(masters.Links); n <= fewMasters {
		a.tasks = a.fewTasks[:n]
	} else {
		a.tasks = make([]outbox.Task, n)
	}
	a.names = op.Kind == Acquire || op.Kind == AcquireOrExtend || op.renews != nil && op.renews.namesOf(op.Key)
	if op.TTL > 0 {
		a.hold = c.q.hold(op.TTL)
		a.mark = cluster.RoundHold(a.hold)
	}
	return a
}

// Vote counts one master's answer, which came at the time now ([outbox.Asker]).
func (a *attempt) Vote(i int, b vote.Ballot, now time.Duration) {
	a.mu.Lock()
	if a.box.wentOut(i) && a.partDone() {
		defer a.call.db.keys.close(a)
	}
	if a.over {
		a.late(i, b)
		return
	}
	switch was := &a.box.ballots[i]; {
	case was.Vote == vote.Awaited:
		*was = b
		was.Void = b.Vote == vote.Silent && !b.Unsure
		if b.Vote == vote.Prolonged {
			a.tasks[i].Prolonged = a.op.renews == nil || b.Expiry > 0
			a.tasks[i].Prolongs = cmp.Or(b.Expiry, a.tasks[i].Prolongs) // what it has kept is what it was given (V15)
		}
	case was.Unsure && !b.Unsure:
		was.Unsure = false // too late to count
	default:
		a.mu.Unlock()
		return
	}
	if i == a.box.first && (b.Vote == vote.Created || b.Vote == vote.Prolonged || b.Vote == vote.Longer) {
		a.askOthers(now)
		return
	}
	a.decide(now)
}

// decide ends the attempt if the verdict is certain, by the votes of the time
// now. It is entered with the mutex held and leaves it free.
func (a *attempt) decide(now time.Duration) {
	if a.over || a.asking {
		a.mu.Unlock()
		return
	}
	a.masters.WithoutJoining(a.box.ballots)
	a.box.needs.Least = a.masters.Least()
	v, certain := vote.VerdictOf(a.op.question(), a.box.ballots, a.box.needs)
	if a.box.first >= 0 && a.box.refusedFirst() && !a.box.requiredMute() {
		v, certain = Split, true
	}
	if certain && v == Held && a.op.Kind == Read {
		t := vote.Count(a.box.ballots, a.box.needs)
		certain = t.Awaited == 0 || !a.box.mayLive(&t)
	}
	if certain && a.times.known == 0 {
		a.times.known = now
	}
	if !certain || a.mayAct() {
		a.mu.Unlock()
		return
	}
	a.end(v, now)
}

// waits reports whether the operation does harm where it is carried out after its
// client was told: it may end, or shorten, what another one has given since.
// Its verdict is told when nothing of it can act any more (V6).
func (a *attempt) waits() bool {
	switch a.op.Kind {
	case Remove, Expire, Store, transact:
		return true
	default:
		return a.asked.Shortens || a.op.Replace
	}
}

// mayAct reports whether it still may be carried out somewhere and that is to be
// waited for. Needs mu.
func (a *attempt) mayAct() bool {
	return a.waits() && a.box.mayAct()
}

// timeout takes all votes that are not there for silent. Where the operation
// may still act it waits once more, until the masters' clocks are beyond what
// its scripts may act at.
func (a *attempt) timeout() {
	a.mu.Lock()
	now := a.call.q.now()
	if a.over || a.asking {
		again := !a.over
		a.mu.Unlock()
		if again {
			a.call.q.deadlines.add(&a.due, now+time.Millisecond, now)
		}
		return
	}
	for i := range a.box.ballots {
		if v := a.box.ballots[i].Vote; v == vote.Awaited || v == vote.Unasked {
			a.box.ballots[i] = vote.Ballot{Vote: vote.Silent, Unsure: a.box.wentOut(i)}
		}
	}
	if a.times.known == 0 {
		a.times.known = now
	}
	if wait := a.times.until + a.call.q.cfg.Grace(); now < wait && a.mayAct() {
		a.mu.Unlock()
		a.call.q.deadlines.add(&a.due, wait, now)
		return
	}
	a.box.needs.Least = a.masters.Least()
	v, _ := vote.VerdictOf(a.op.question(), a.box.ballots, a.box.needs)
	a.end(v, now)
}

// end closes the ballot, rolls back what was lost, and goes on. It is entered
// with the mutex held and leaves it free.
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
	a.lost, a.gone = v != Won, v == Absent
	less := v == Won && a.asksForLess()
	a.countVotes()
	a.mu.Unlock()
	if v != Won && a.before != nil {
		a.before.rollback(mayHaveCreated)
	}
	switch v {
	case Won:
		if a.op.Kind == Release {
			a.call.db.keys.released(a)
		}
		a.retryChanges()
		a.heal(func() { a.goOn(v, less) })
		return
	case Held:
		// Whoever asks next is refused as well, so there is time to see what
		// the others answer, which mostly is no.
		a.rollback(func(v vote.Vote) bool { return v == vote.Created || v == vote.Silent })
	default:
		a.rollback(mayHaveCreated)
	}
	a.told() // there is nothing to take back later
	a.goOn(v, false)
}

// goOn goes on with the verdict; less is whether what was won is to be
// shortened first.
func (a *attempt) goOn(v Verdict, less bool) {
	if less {
		a.shorten()
		return
	}
	if a.then == nil {
		a.call.verdict(a, v)
		return
	}
	a.then(a, v)
}

// countVotes notes which masters the verdict was made of. Needs mu.
func (a *attempt) countVotes() {
	for i := range a.box.ballots {
		a.masters.Links[i].VoteCounts().Count(a.box.ballots[i].Vote)
	}
}

// look shows its votes.
func (a *attempt) look(at func(*ballotBox)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at(&a.box)
}

// promises reports whether winning grants the client something for a time.
func (a *attempt) promises() bool {
	switch a.op.Kind {
	case Acquire, AcquireOrExtend, Extend:
		return true
	case transact:
		return a.op.TTL > 0 // else it only frees
	default:
		return false
	}
}

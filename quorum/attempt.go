package quorum

import (
	"sync"
	"time"
)

// attempt is one fan-out of one operation to all masters (V1), from its first
// byte to its verdict, and what must be undone of it afterwards.
type attempt struct {
	call *call
	op   *Op
	// then is called with the verdict; nil is the call's own.
	then func(*attempt, Verdict)
	// masters are those of the list at the beginning (M8); ballots, tasks and
	// the others go by their order.
	masters *masterList
	// holders are the servers that had the seats of the masters then (M9).
	holders *map[string]string
	needs   needs
	// first is the master that is asked alone before the others (V5), or -1.
	first int
	// hold is what the masters are given, mark what their marks must bear.
	hold, mark time.Duration

	mu    sync.Mutex
	began time.Duration
	ended time.Duration
	// over is whether the verdict has fallen; votes that come later count
	// for nothing. lost is whether what was asked for is not wanted any more.
	over bool
	lost bool
	// asking is while the masters are being asked: until all are the verdict
	// waits, so that nothing that follows it overtakes.
	asking bool
	// pending is what keeps the attempt open (names.go): each master that has
	// not answered, and the client as long as it was not told.
	pending int
	wasTold bool
	due     due
	ballots []ballot
	tasks   []task
	// sent are the masters the operation went out to, undone those that were
	// sent its rollback, as bits.
	sent, undone uint32
	// others is whether other open attempts have one of its names, openOne
	// how it is noted among them (names.go).
	others  bool
	openOne openAttempt
	// result is its outcome, promise the grant of that.
	result  Outcome
	promise grant

	// Room for the ballots and tasks of up to as many masters as most have,
	// so that an attempt is one allocation.
	fewBallots [fewMasters]ballot
	fewTasks   [fewMasters]task
}

const fewMasters = 5

func newAttempt(c *call, op *Op, then func(*attempt, Verdict)) *attempt {
	masters := c.db.list()
	a := &attempt{call: c, op: op, then: then, masters: masters, needs: masters.needs, first: -1}
	a.holders = c.db.agreed.holders.Load()
	a.needs.gone = masters.gone()
	if n := len(masters.lanes); n <= fewMasters {
		a.ballots, a.tasks = a.fewBallots[:n], a.fewTasks[:n]
	} else {
		a.ballots, a.tasks = make([]ballot, n), make([]task, n)
	}
	if op.TTL > 0 {
		a.hold = c.q.cfg.hold(op.TTL)
		a.mark = roundHold(a.hold)
	}
	return a
}

// vote counts one master's answer, which came at the time now.
func (a *attempt) vote(i int, b ballot, now time.Duration) {
	a.mu.Lock()
	if a.wentOut(i) && a.settled() {
		defer a.call.db.keys.close(a)
	}
	if a.over {
		a.late(i, b)
		return
	}
	if a.ballots[i].vote != awaited {
		a.mu.Unlock()
		return
	}
	a.ballots[i] = b
	if i == a.first && (b.vote == created || b.vote == prolonged) {
		a.askOthers(now)
		return
	}
	a.decide(now)
}

// wentOut is whether the operation was sent to a master. Needs mu.
func (a *attempt) wentOut(i int) bool { return a.sent>>i&1 != 0 }

// decide ends the attempt if the verdict is certain, by the votes of the time
// now. It is entered with the mutex held and leaves it free.
func (a *attempt) decide(now time.Duration) {
	if a.over || a.asking {
		a.mu.Unlock()
		return
	}
	a.withoutJoining()
	a.withoutSuperseded()
	v, certain := verdictOf(a.op, a.ballots, a.needs)
	if a.first >= 0 && a.refusedFirstLocked() && !a.requiredMute() {
		v, certain = Split, true
	}
	if certain && v == Held && a.op.Kind == Read {
		t := count(a.ballots, a.needs)
		certain = t.awaited == 0 || !a.mayLive(&t)
	}
	if !certain {
		a.mu.Unlock()
		return
	}
	a.end(v, now)
}

// timeout takes all votes that are not there for silent.
func (a *attempt) timeout() {
	a.mu.Lock()
	if a.over || a.asking {
		again := !a.over
		a.mu.Unlock()
		if again {
			now := a.call.q.now()
			a.call.q.deadlines.add(a, now+time.Millisecond, now)
		}
		return
	}
	for i := range a.ballots {
		if v := a.ballots[i].vote; v == awaited || v == unasked {
			a.ballots[i].vote = silent
		}
	}
	v, _ := verdictOf(a.op, a.ballots, a.needs)
	a.end(v, a.call.q.now())
}

// end closes the ballot, rolls back what was lost, and goes on. It is entered
// with the mutex held and leaves it free.
func (a *attempt) end(v Verdict, now time.Duration) {
	a.over, a.ended = true, now
	a.call.q.deadlines.remove(a)
	if v == Won && a.promises() && now-a.began > a.call.q.cfg.Timeout {
		v = Undecided // won, but too late (V2)
		a.call.q.events.lateGrants.Add(1)
	}
	a.lost = v != Won
	a.countVotes()
	a.mu.Unlock()
	switch v {
	case Won:
		a.heal()
	case Held:
		// Whoever asks next is refused as well, so there is time to see what
		// the others answer, which mostly is no.
		a.rollback(func(v vote) bool { return v == created || v == silent })
	default:
		a.rollback(mayHaveCreated)
	}
	if v != Won {
		a.told() // there is nothing to take back later
	}
	if a.then == nil {
		a.call.verdict(a, v)
		return
	}
	a.then(a, v)
}

// countVotes notes which masters the verdict was made of. Needs mu.
func (a *attempt) countVotes() {
	for i := range a.ballots {
		n := &a.masters.lanes[i].traffic().votes
		switch a.ballots[i].vote {
		case awaited, unasked:
		case silent:
			n.silent.Add(1)
		default:
			n.counted.Add(1)
		}
	}
}

// promises is whether winning grants the client something for a time.
func (a *attempt) promises() bool {
	switch a.op.Kind {
	case Acquire, AcquireOrExtend, Extend, transact:
		return true
	default:
		return false
	}
}

// answered is how many masters have answered.
func (a *attempt) answered() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, b := range a.ballots {
		if b.vote != awaited && b.vote != unasked && b.vote != silent {
			n++
		}
	}
	return n
}

package quorum

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// The work that remains after an attempt was won, before its reply leaves: masters that have
// lost the lock get it back (V9), and copies that last longer than the client asked for are
// shortened (V6).

// asksForLess reports whether the won operation met a later expiry than the client
// asked for. If the client asked for more than what a read had found, and a quorum may have
// a later expiry by now, another instance has prolonged the lock since, and the operation
// counts as the earlier one. The caller must hold mu.
func (a *attempt) asksForLess() bool {
	e := &a.effects[0]
	may := a.op.Kind != transact && e.Does == outbox.Raises && e.Meets != outbox.Own
	if !may || a.harmsIfLate() {
		return false
	}
	longer := vote.HowMany(a.box.ballots, func(b *vote.Ballot) bool { return b.Vote == vote.Longer })
	unknown := vote.HowMany(a.box.ballots, func(b *vote.Ballot) bool { return b.Vote == vote.Awaited || b.Vote == vote.Silent })
	return longer > 0 && !(a.op.raises && longer+unknown >= a.box.needs.Quorum)
}

// mend gives an extended lock back to the masters that have lost it (V9): those whose
// "absent" had arrived when a quorum had prolonged it. If the client asked for less, it also
// shortens the copies that have kept a later expiry, or may yet (V6): the client has the lock by
// now, and only what is still the attempt's is shortened. Both are sent at once, so that this
// redlockd's next operation goes behind them. Another instance's does not. So the verdict, which
// leads to the answer to the client, is passed on when no task can act any more: all are answered,
// or the masters' clocks have passed their deadline.
func (a *attempt) mend() {
	tasks := a.mending()
	if len(tasks) == 0 || !a.call.delayAnswer() {
		a.then(a, Won)
		return
	}
	now := a.call.q.now()
	over := func() {
		a.mu.Lock()
		a.times.ended = a.call.q.now()
		a.mu.Unlock()
		a.then(a, Won)
	}
	limit := time.AfterFunc(a.times.until+a.call.q.cfg.Grace()-now, over)
	var left atomic.Int32
	left.Store(int32(len(tasks)))
	heard := func(b vote.Ballot) {
		if !b.MayAct && left.Add(-1) == 0 && limit.Stop() {
			over()
		}
	}
	for i, t := range tasks {
		waits := t.OnAnswer == nil
		if waits {
			t.OnAnswer = heard
		}
		if sent := a.masters.Links[i].Send(t, now); !sent || !waits {
			heard(vote.Ballot{})
		}
	}
}

// mending returns the tasks of mend, by the index of their master.
func (a *attempt) mending() map[int]*outbox.Task {
	var out map[int]*outbox.Task
	a.mu.Lock()
	defer a.mu.Unlock()
	less := a.asksForLess()
	lock, heals := a.healsAs()
	for i, b := range a.box.ballots {
		absent := b.Vote == vote.Absent || b.AbsentVoid
		switch {
		case heals && absent:
		case less && (b.Vote == vote.Longer || b.Vote == vote.Awaited):
		default:
			continue
		}
		e := outbox.Effect{Key: a.op.Key, Meets: outbox.Own, Token: a.op.TokenAfter(), Whose: a.id.String(), Does: outbox.Sets, New: a.op.TokenAfter()}
		t := &outbox.Task{Kind: Extend, Copies: slices.Clone(a.tasks[i].Copies), Deadline: a.tasks[i].Deadline}
		switch {
		case absent:
			e.Meets, e.Whose, e.Does = outbox.Nothing, "", outbox.Stores
			t.Copies[0].Tail.Lock = lock
		case b.Vote == vote.Awaited:
			t.OnAnswer = func(vote.Ballot) {} // the verdict has not waited for the extend either
		}
		t.Effects = []outbox.Effect{e}
		if out == nil {
			out = map[int]*outbox.Task{}
		}
		out[i] = t
	}
	return out
}

// healsAs returns the lock that a healed copy gets: the one that a quorum of the prolonged
// copies have, or that they have got now. If these have several it is another one: somebody may
// repeat a deletion of any of theirs (V8). Bare tokens are not healed from (V11). The caller must
// hold mu.
func (a *attempt) healsAs() (lock tail.ID, heals bool) {
	if a.op.Kind != Extend || a.op.renews != nil {
		return 0, false
	}
	if a.effects[0].Changes() {
		return a.lock, true
	}
	named := 0
	for _, b := range a.box.ballots {
		switch n := a.box.prolonged(b.Tail.Lock); {
		case n == 0 || b.Tail.Bare():
		case n >= a.box.needs.Quorum:
			return b.Tail.Lock, true
		default:
			named++
		}
	}
	return tail.NewID(), named >= a.box.needs.Quorum
}

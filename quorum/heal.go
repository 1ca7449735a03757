package quorum

import (
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// asksForLess reports whether what was won has found a later expiry than the client
// asks for. Needs mu.
func (a *attempt) asksForLess() bool {
	may := a.op.Kind == AcquireOrExtend || a.op.Kind == Extend && a.op.renews == nil
	return may && !a.waits() && slices.ContainsFunc(a.box.ballots, func(b vote.Ballot) bool { return b.Vote == vote.Longer })
}

// shorten asks once more for what was won, where that is less than the masters
// hold: the client has the lock by now, and nobody else is told less (V6).
func (a *attempt) shorten() {
	next := newAttempt(a.call, a.op, a.then)
	next.asked.Shortens, next.before = true, a
	next.begin(a.call.q.now())
}

// heal gives an extended lock back to the masters that have lost it (V9): to
// those whose "absent" was in hand when a quorum had prolonged it, at once, so
// that a release that comes next from here goes behind it. One that another
// redlockd sends does not, and may be won by their "absent". So then, which has
// the client told, is called when no heal can act any more: all are answered, or
// the masters' clocks are beyond what they may act at.
func (a *attempt) heal(then func()) {
	var healed uint32
	a.mu.Lock()
	for i, b := range a.box.ballots {
		if a.op.Kind == Extend && a.op.renews == nil && (b.Vote == vote.Absent || b.Lost) {
			healed |= 1 << i
		}
	}
	a.mu.Unlock()
	if healed == 0 {
		then()
		return
	}
	now := a.call.q.now()
	over := func() {
		a.mu.Lock()
		a.times.ended = a.call.q.now()
		a.mu.Unlock()
		then()
	}
	limit := time.AfterFunc(a.times.until+a.call.q.cfg.grace()-now, over)
	var left atomic.Int32
	left.Store(int32(bits.OnesCount32(healed)))
	heard := func(b vote.Ballot) {
		if !b.Unsure && left.Add(-1) == 0 && limit.Stop() {
			over()
		}
	}
	token := a.op.Token
	if a.op.Replace {
		token = a.op.NewToken
	}
	for i, l := range a.masters.links {
		if healed>>i&1 == 0 {
			continue
		}
		t := &a.tasks[i]
		// The expiry that the extend would have given.
		if !l.send(&outbox.Task{Kind: Extend, Heals: true, Key: a.op.Key, Token: token, Prolongs: t.Prolongs, Deadline: t.Deadline, Heard: heard}, now) {
			heard(vote.Ballot{})
		}
	}
}

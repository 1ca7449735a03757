package quorum

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// The work that remains after an attempt was won: masters that missed it are repaired
// (V8, V9), and a lock that they hold for longer than the client asked for is shortened
// (V6).

// asksForLess reports whether the won operation met a later expiry than the client
// asked for. If the client asked for more than what a read had found, and a quorum may have
// a later expiry by now, another redlockd has prolonged the lock since, and the operation
// counts as the earlier one. The caller must hold mu.
func (a *attempt) asksForLess() bool {
	may := a.op.Kind == AcquireOrExtend || a.op.Kind == Extend && a.op.renews == nil && !a.op.Keeps
	if !may || a.harmsIfLate() {
		return false
	}
	longer, unknown := 0, 0
	for _, b := range a.box.ballots {
		switch b.Vote {
		case vote.Longer:
			longer++
		case vote.Awaited, vote.Silent:
			unknown++
		}
	}
	return longer > 0 && !(a.op.raises && longer+unknown >= a.box.needs.Quorum)
}

// shorten repeats the won operation, this time so that it makes later expiries earlier.
// The client has the lock by now, so this shortens no other client's lock (V6).
func (a *attempt) shorten() {
	next := newAttempt(a.call, a.op, a.then)
	next.asked.Shortens, next.shortens = true, a
	next.begin(a.call.q.now())
}

// heal gives an extended lock back to the masters that have lost it (V9): those whose
// "absent" had arrived when a quorum had prolonged it. It is sent at once, so that this
// redlockd's next release goes behind it. Another redlockd's release does not, and
// might win by their "absent" before the heal acts. So then, which leads to the answer
// to the client, is called when no heal can act any more: all are answered, or the
// masters' clocks have passed their deadline.
func (a *attempt) heal(then func()) {
	var healed uint32
	a.mu.Lock()
	for i, b := range a.box.ballots {
		if a.op.Kind == Extend && a.op.renews == nil && (b.Vote == vote.Absent || b.AbsentVoid) {
			healed |= 1 << i
		}
	}
	a.mu.Unlock()
	if healed == 0 || !a.call.delayAnswer() {
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
	limit := time.AfterFunc(a.times.until+a.call.q.cfg.Grace()-now, over)
	var left atomic.Int32
	left.Store(int32(bits.OnesCount32(healed)))
	heard := func(b vote.Ballot) {
		if !b.MayAct && left.Add(-1) == 0 && limit.Stop() {
			over()
		}
	}
	token := a.op.Token
	if a.op.Replace {
		token = a.op.NewToken
	}
	for i, l := range a.masters.Links {
		if healed>>i&1 == 0 {
			continue
		}
		t := &a.tasks[i]
		// The expiry that the extend would have given.
		if !l.Send(&outbox.Task{Kind: Extend, Heals: true, Key: a.op.Key, Token: token, Prolongs: t.Prolongs, Deadline: t.Deadline, OnAnswer: heard}, now) {
			heard(vote.Ballot{})
		}
	}
}

// retryChanges repeats a won change to the masters that were silent: the new tokens,
// and releases of the locks that a Remove or a transact has deleted (V8). Otherwise a
// lock could neither be extended nor released by its new token while these masters, and
// not others, are up. The repetition is no vote: a majority has made the change
// already. A transact is repeated also where it did nothing, since another of its keys was
// not as expected.
func (a *attempt) retryChanges() {
	if !a.op.Replace && a.op.Kind != transact && a.op.Kind != Remove {
		return
	}
	var missed, refused [cluster.MaxMasters]bool
	a.mu.Lock()
	for i, b := range a.box.ballots {
		missed[i] = b.Vote == vote.Silent && !b.AbsentVoid
		refused[i] = a.op.Kind == transact && (b.Vote == vote.Refused || b.Vote == vote.Absent)
	}
	removed, known := a.removedLocked()
	a.mu.Unlock()
	for i, l := range a.masters.Links {
		if !missed[i] && !refused[i] {
			continue
		}
		if a.op.Replace {
			l.RetryChange(a.op.Key, a.op.Token, a.op.NewToken, a.hold, a.times.began)
		}
		if known {
			a.releaseOn(l, a.op.Key, removed)
		}
		for k := range a.op.steps {
			s := &a.op.steps[k]
			switch {
			case !s.Exists:
			case s.Does == outbox.Deletes:
				a.releaseOn(l, s.Key, s.Was)
			case s.Does == outbox.Stores && s.Token != s.Was:
				l.RetryChange(s.Key, s.Was, s.Token, s.Hold, a.times.began)
			}
		}
	}
}

// removedLocked returns the token of the lock that a Remove has deleted. It is known
// only if a quorum held it, or the required master (V11): fewer copies may belong to an
// acquire under way that wins on other masters. The caller must hold mu.
func (a *attempt) removedLocked() (token string, known bool) {
	if a.op.Kind != Remove {
		return "", false
	}
	if at := a.box.needs.Required; at >= 0 && a.box.ballots[at].Vote == vote.Released && a.box.ballots[at].Token != "" {
		return a.box.ballots[at].Token, true
	}
	deleted := map[string]int{}
	for _, b := range a.box.ballots {
		if b.Vote == vote.Released && b.Token != "" { // empty if the key was no lock
			if deleted[b.Token]++; deleted[b.Token] >= a.box.needs.Quorum {
				return b.Token, true
			}
		}
	}
	return "", false
}

// releaseOn releases a lock that the other masters have deleted on a master that was
// silent. A copy that another redlockd made, or has prolonged, may by then belong to a lock
// that was taken since with the same token; it stays (V8).
func (a *attempt) releaseOn(l *cluster.Link, key, token string) {
	now := a.call.q.now()
	if maker, ok := l.Maker(); ok {
		l.Send(&outbox.Task{Kind: Release, Key: key, Token: token, Maker: maker, Until: a.times.began + a.call.q.cluster.LongestHold()}, now)
	}
}

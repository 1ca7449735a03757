package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/scripts"
	"github.com/redlockd/redlockd/quorum/vote"
)

// task is what one master is asked to do: an operation's part, or a rollback.
type task struct {
	kind Kind
	// rollback deletes what the attempt named (token, expiry) created.
	rollback bool
	// heals gives a lock that was extended back to a master that has lost it
	// (V9).
	heals bool
	// clears only deletes what is over.
	clears bool
	// from are the tokens that a repeated change replaces (changed.go).
	from []string
	// index is the number of the ballot that att awaits.
	index uint8
	// tries is how often it was sent again.
	tries uint8
	// att awaits the vote, and knows the operation; nil for rollbacks, for heals
	// and for releases that are repeated.
	att *attempt

	key   string
	token string
	// expiries are those of each step of transact.
	expiries []int64
	// expiry is that of what the attempt creates, and so its name, in the
	// master's own milliseconds; prolongs that of what it prolongs (V6).
	expiry, prolongs int64
	// limits are which copies are over, nil if that is not asked (terms.go).
	limits *limits
	// was is the name that a renewal gives another one.
	was int64
	// mark is the id of the mark that it was made under: a rollback is for no
	// other, where its expiry may be another redlockd's.
	mark string
	// deadline is the latest reading of the master's clock at which a script
	// may act.
	deadline int64
	// passed is closed when the task has been answered, for a barrier.
	passed chan struct{}
	// heard gets the answer of what is asked beside the votes, page what comes
	// with it (scan.go).
	heard func(vote.Ballot)
	page  *page
	// via is the script it went out as, if any.
	via *scripts.Script
	// until is when repeating a rollback or a release has become useless,
	// since the key's hold is over, by our own clock.
	until time.Duration
}

// mustDeliver reports whether the task is repeated over the next connection if it
// is not known to have been carried out (V6, V8).
func (t *task) mustDeliver() bool { return t.rollback || t.kind == Release || t.from != nil }

// creates reports whether the task may create a lock, which is not asked of a
// master in quarantine (M4).
func (t *task) creates() bool {
	return !t.rollback && (t.kind == Acquire || t.kind == AcquireOrExtend || t.kind == Store || t.kind == transact)
}

// locks are what is held after the task and may not have been before it, by
// their tokens: no release of before may free them (V8).
func (t *task) locks() []retryKey {
	switch {
	case t.rollback:
		return nil
	case t.kind == Extend && t.att != nil && t.att.op.Replace:
		return []retryKey{{key: t.key, token: t.att.op.NewToken}}
	case !t.creates() && !t.heals && t.from == nil:
		return nil
	case t.kind != transact:
		return []retryKey{{key: t.key, token: t.token}}
	}
	var out []retryKey
	for i := range t.att.op.steps {
		if s := &t.att.op.steps[i]; s.change != nil && !s.change.Delete {
			out = append(out, retryKey{key: s.key, token: s.change.Token})
		}
	}
	return out
}

// size is about how many bytes the task takes while it waits.
func (t *task) size() int {
	n := len(t.key) + len(t.token) + 200
	for _, token := range t.from {
		n += len(token)
	}
	if t.att == nil {
		return n
	}
	n += len(t.att.op.NewToken)
	for i := range t.att.op.steps {
		s := &t.att.op.steps[i]
		n += len(s.key) + len(s.state.Token) + 100
		if s.change != nil {
			n += len(s.change.Token)
		}
	}
	return n
}

// answer hands the vote to who awaits it; now is when it came.
func (t *task) answer(b vote.Ballot, now time.Duration) {
	if t.att != nil {
		t.att.vote(int(t.index), b, now)
	}
	if t.passed != nil {
		close(t.passed)
	}
	if t.heard != nil {
		t.heard(b)
	}
}

// barrier returns a channel that is closed when all that waits now has been
// carried out, or will not be.
func barrier(l *link) <-chan struct{} {
	t := &task{kind: Read, key: mark.Key, passed: make(chan struct{})}
	if !l.send(t, l.now()) {
		close(t.passed)
	}
	return t.passed
}

// name is under what the task is repeated.
func (t *task) name() retryKey {
	n := retryKey{key: t.key, token: t.token}
	switch {
	case t.rollback:
		n.expiry = t.expiry
	case t.from != nil:
		n.token, n.expiry = "", anyChange
	}
	return n
}

package quorum

import "time"

// task is what one master is asked to do: an operation's part, or a rollback.
type task struct {
	kind Kind
	// rollback deletes what the attempt named (token, expiry) created.
	rollback bool
	// heals gives a lock that was extended back to a master that has lost it
	// (V9).
	heals bool
	// att awaits the vote, as ballot number index; nil for rollbacks and for
	// releases that are repeated.
	att   *attempt
	index int

	key      string
	token    string
	newToken string
	replace  bool
	present  bool
	// steps are those of transact, expiries the even ones of each.
	steps    []step
	expiries []int64
	// expiry is the even expiry, in the master's own milliseconds; the odd
	// one is expiry+1 (V6).
	expiry int64
	// deadline is the latest reading of the master's clock at which a script
	// may act.
	deadline int64
	// tries is how often it was sent again.
	tries int
	// passed is closed when the task has been answered, for a barrier.
	passed chan struct{}
	// heard gets the answer of what is asked beside the votes, page what comes
	// with it (scan.go).
	heard func(ballot)
	page  *page
	// via is the script it went out as, if any.
	via *serverScript
	// until is when repeating a rollback or a release has become useless,
	// since the key's hold is over, by our own clock.
	until time.Duration
}

// mustArrive is whether the task is repeated over the next connection if it
// is not known to have been carried out (V6, V8).
func (t *task) mustArrive() bool { return t.rollback || t.kind == Release }

// creates is whether the task may create a lock, which is not asked of a
// master in quarantine (M4).
func (t *task) creates() bool {
	return !t.rollback && (t.kind == Acquire || t.kind == AcquireOrExtend || t.kind == Store || t.kind == transact)
}

// size is about how many bytes the task takes while it waits.
func (t *task) size() int {
	n := len(t.key) + len(t.token) + len(t.newToken) + 200
	for i := range t.steps {
		n += len(t.steps[i].key) + len(t.steps[i].state.Token) + 100
		if c := t.steps[i].change; c != nil {
			n += len(c.Token)
		}
	}
	return n
}

// answer hands the vote to who awaits it; now is when it came.
func (t *task) answer(b ballot, now time.Duration) {
	if t.att != nil {
		t.att.vote(t.index, b, now)
	}
	if t.passed != nil {
		close(t.passed)
	}
	if t.heard != nil {
		t.heard(b)
	}
}

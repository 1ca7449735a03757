package outbox

import (
	"time"

	"github.com/redlockd/redlockd/quorum/scripts"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Task is what one master is asked to do: an operation's part, what follows it, or a question
// outside the votes. Expiries and deadlines are by the master's own clock, in milliseconds
// since 1970.
type Task struct {
	// Kind is the operation; for what follows it, that of the attempt.
	Kind vote.Kind
	// MustDeliver reports whether the task deletes what the attempt has created (V6), or does again
	// what the master has missed of a won operation (V8). It is kept and sent again, over the next
	// connection if need be, until it is known to have been carried out.
	MustDeliver bool
	// Index is the master's index on the attempt's list, for which Asked.By gets the
	// vote.
	Index uint8
	// tries is how often the task was sent again.
	tries uint8
	// Asked is who gets the vote; nil for all other tasks, which have none.
	Asked *Asked

	// Effects are what is done to each key, Copies what the master stores there; a task that
	// stores nothing has no copies.
	Effects []Effect
	Copies  []Copy
	// Missed is what a task repeats; nil for a rollback.
	Missed *Missed
	// Deadline is the latest reading of the master's clock at which a script may act; 0
	// for a release that has none.
	Deadline int64
	// OnAnswer gets the answer to a question outside the votes, Page its details
	// (page.go). It must not block.
	OnAnswer func(vote.Ballot)
	Page     *Page
	// via is the script by which the task was sent, if any.
	via *scripts.Script
	// Until is when repeating the task becomes useless, by our own clock: the key's
	// hold is over then.
	Until time.Duration
}

// Copy is what a master is to store besides a token: the tail that says whose it is, and its
// expiry.
type Copy struct {
	Tail   tail.Tail
	Expiry int64
}

// Missed is a won operation that a master has missed (V8).
type Missed struct {
	// Began is when it began, by our own clock. Before is at most what the master's clock
	// showed then, and 0 where that is not known; it is set when the task goes out.
	Began  time.Duration
	Before int64
}

// Creates reports whether the task may create a lock, which is not asked of a master in
// quarantine (M4).
func (t *Task) Creates() bool {
	switch t.Kind {
	case vote.Acquire, vote.AcquireOrExtend, vote.Store, vote.Transact:
		return !t.MustDeliver
	default:
		return false
	}
}

// Changes reports whether the task repeats a change of token.
func (t *Task) Changes() bool { return t.MustDeliver && t.Effects[0].Gives() }

// Key returns the first key of the task; empty if it has none.
func (t *Task) Key() string {
	if len(t.Effects) == 0 {
		return ""
	}
	return t.Effects[0].Key
}

// keys returns the keys of the task.
func (t *Task) keys() []string {
	out := make([]string, len(t.Effects))
	for i := range out {
		out[i] = t.Effects[i].Key
	}
	return out
}

// size returns about how many bytes the task takes while it waits.
func (t *Task) size() int {
	n := 200
	for i := range t.Effects {
		e := &t.Effects[i]
		n += len(e.Key) + len(e.Token) + len(e.New) + len(e.Whose) + tail.Size
	}
	return n
}

// Answer passes the vote, which arrived at the time now, to those that wait for it. The
// caller must not hold the link's mutex.
func (t *Task) Answer(b vote.Ballot, now time.Duration) {
	if t.Asked != nil {
		t.Asked.By.Vote(int(t.Index), b, now)
	}
	if t.OnAnswer != nil {
		t.OnAnswer(b)
	}
}

package outbox

import (
	"time"

	"github.com/redlockd/redlockd/quorum/scripts"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Task is what one master is asked to do: an operation's part, its rollback, heal or
// retry, or a question outside the votes. Expiries and deadlines are by the master's
// own clock, in milliseconds since 1970.
type Task struct {
	// Kind is the operation; for a rollback, that of the attempt.
	Kind vote.Kind
	// Rollback deletes the copy that the attempt named (token, expiry) created.
	Rollback bool
	// Heals gives a lock that was extended back to a master that has lost it (V9).
	Heals bool
	// Clears only deletes a copy whose lock is over.
	Clears bool
	// Prolonged reports whether the copy is known to have got the expiry Prolongs.
	Prolonged bool
	// Index is the master's index on the attempt's list, for which Asked.By gets the
	// vote.
	Index uint8
	// tries is how often the task was sent again.
	tries uint8
	// Asked is what the attempt asks of all masters; nil for all other tasks, such as
	// rollbacks, heals and retries, which have no vote.
	Asked *Asked
	// From are the tokens that a repeated change replaces (changes.go).
	From []string

	// Key and Token are any bytes; for a repeated change Token is the new one.
	Key   string
	Token string
	// Expiries are those of the steps of a Transact, 0 for a step that stores nothing.
	Expiries []int64
	// Expiry is the expiry of copies that the attempt creates, and so its name;
	// Prolongs is the expiry of copies that it prolongs (V6).
	Expiry, Prolongs int64
	// Longest is the expiry of what lasts for the greatest hold that the mark records: no
	// later one is made our own (V15).
	Longest int64
	// Kept is as in vote.Ballot.
	Kept *[]int64
	// Limits determine which copies are over; nil if that does not matter (limits.go).
	Limits *Limits
	// Was are the expiries that may name the copies which a renewal renames.
	Was []int64
	// Maker restricts a release to copies that this redlockd made, unless it is 0: it is
	// its residue (V6).
	Maker int64
	// Mark is the id of the mark under which the task was made. A rollback is sent only
	// under the same mark: under another one its expiry may be another redlockd's.
	Mark string
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

// MustDeliver reports whether the task is repeated, over the next connection if need
// be, until it is known to have been carried out (V6, V8).
func (t *Task) MustDeliver() bool { return t.Rollback || t.Kind == vote.Release || t.From != nil }

// Creates reports whether the task may create a lock, which is not asked of a master in
// quarantine (M4).
func (t *Task) Creates() bool {
	return !t.Rollback && (t.Kind == vote.Acquire || t.Kind == vote.AcquireOrExtend || t.Kind == vote.Store || t.Kind == vote.Transact)
}

// locks returns the locks, by key and token, that are held after the task and may not
// have been before it: no earlier release may free them (V8).
func (t *Task) locks() []Name {
	switch {
	case t.Rollback:
		return nil
	case t.Kind == vote.Extend && t.Asked != nil && t.Asked.Replace:
		return []Name{{Key: t.Key, Token: t.Asked.NewToken}}
	case !t.Creates() && !t.Heals && t.From == nil:
		return nil
	case t.Kind != vote.Transact:
		return []Name{{Key: t.Key, Token: t.Token}}
	}
	var out []Name
	for i := range t.Asked.Steps {
		if s := &t.Asked.Steps[i]; s.Does == Stores {
			out = append(out, Name{Key: s.Key, Token: s.Token})
		}
	}
	return out
}

// counts returns the locks, by key and token, of which the task may count a copy: no
// earlier release may free that afterwards (V8). anyToken stands for all of the key.
func (t *Task) counts() []Name {
	out := t.locks()
	switch {
	case t.Rollback || t.Clears:
	case t.Kind == vote.Expire:
		out = append(out, Name{Key: t.Key, Expiry: anyToken})
	case t.Kind == vote.Extend:
		out = append(out, Name{Key: t.Key, Token: t.Token})
	case t.Kind == vote.Transact:
		for i := range t.Asked.Steps {
			if s := &t.Asked.Steps[i]; s.Exists {
				out = append(out, Name{Key: s.Key, Token: s.Was})
			}
		}
	}
	return out
}

// LatestExpiry returns the latest expiry that a copy may have got by the task.
func (t *Task) LatestExpiry() int64 {
	if t.Prolonged {
		return t.Prolongs
	}
	return max(t.Expiry, t.Prolongs)
}

// KeptAt returns the later expiry that the copy of step k, or of the only key, has kept of
// those that this redlockd gave; else 0.
func (t *Task) KeptAt(k int) int64 {
	if t.Kept == nil || k >= len(*t.Kept) {
		return 0
	}
	return (*t.Kept)[k]
}

// size returns about how many bytes the task takes while it waits.
func (t *Task) size() int {
	n := len(t.Key) + len(t.Token) + 200
	for _, token := range t.From {
		n += len(token)
	}
	if t.Asked == nil {
		return n
	}
	n += len(t.Asked.NewToken)
	for i := range t.Asked.Steps {
		s := &t.Asked.Steps[i]
		n += len(s.Key) + len(s.Was) + len(s.Token) + 100
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

// name returns the name under which the task is kept to be repeated.
func (t *Task) name() Name {
	n := Name{Key: t.Key, Token: t.Token}
	switch {
	case t.Rollback:
		n.Expiry = t.Expiry
	case t.From != nil:
		n.Token, n.Expiry = "", anyChange
	}
	return n
}

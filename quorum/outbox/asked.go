package outbox

import (
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Asked is what an attempt asks of all masters alike; its tasks share it. It must not
// be changed once the first of them was sent.
type Asked struct {
	// By receives the votes.
	By Asker
	// List is the list of masters when the attempt began (M8).
	List List
	// NewToken is the token that an Extend stores if Replace is set.
	NewToken string
	Replace  bool
	// IfPresent makes Store leave an absent key alone.
	IfPresent bool
	// Keeps reports whether an Extend leaves all times as they are (V13), Raises whether
	// it asks for more than was left, and so leaves a later expiry as it is (V6).
	Keeps, Raises bool
	// Anyway makes an Extend take copies whose TTL is over, too (V15).
	Anyway bool
	// Renews makes an Extend prolong only what the attempt of its copies still has (V2).
	Renews bool
	// Locks are the locks that a release or an extend may meet, put together as their IDs are
	// written; empty for any (WATCH, S4).
	Locks string
	// Steps are the steps of a Transact, one for each key.
	Steps []Step
}

// Asker is an attempt as its tasks see it. index is Task.Index. The methods are called
// from the goroutines that serve the masters, several at a time.
type Asker interface {
	// GoesOut is called right before a task is written; false drops it. The caller
	// holds the link's mutex.
	GoesOut(index int, now time.Duration) bool
	// Vote takes the master's vote, which arrived at the time now. The caller does not
	// hold the link's mutex.
	Vote(index int, b vote.Ballot, now time.Duration)
}

// List is a list of masters as the votes of an attempt depend on it (M8). Safe for
// concurrent use.
type List interface {
	// Title returns the name that the list has in the marks.
	Title() string
	// Saw notes a generation that a mark bears.
	Saw(mark.Generation)
}

// Step is one key of a Transact: the state it must have, and its change.
type Step struct {
	Key string
	// Exists reports whether the key must exist, and hold the token Was.
	Exists bool
	Was    string
	// Locks is as in Asked.
	Locks string
	// Does is the change of the key.
	Does Does
	// Token and TTL are what Stores stores; Hold is the TTL with its padding, for which
	// the masters keep the lock.
	Token     string
	TTL, Hold time.Duration
	// Keeps reports whether the TTL is what is left of the lock (V13), Raises whether it is
	// more than that (V6). The key then keeps a later expiry.
	Keeps, Raises bool
}

// Does is what a Step does to its key.
type Does uint8

// What a Step does to its key.
const (
	Keeps   Does = iota // nothing
	Deletes             // it is deleted
	Stores              // it holds another token, or the same one for longer
)

// Creates reports whether the step begins a lock: it stores a token where there was none.
func (s *Step) Creates() bool { return s.Does == Stores && !s.Exists }

// Final reports whether the step takes something from the lock that the key holds, which no
// rollback gives back: it deletes it, gives it another token, or may shorten it.
func (s *Step) Final() bool {
	return s.Does == Deletes || s.Does == Stores && s.Exists && (s.Token != s.Was || !s.Keeps && !s.Raises)
}

package outbox

import (
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Asked is what an attempt asks of all masters alike: its tasks share it. It must not
// be changed once the first of them was sent.
type Asked struct {
	// By awaits the votes.
	By Asker
	// List is the one that the attempt began with (M8).
	List List
	// NewToken is what an Extend stores, if Replace is set.
	NewToken string
	Replace  bool
	// IfPresent makes Store leave an absent key alone.
	IfPresent bool
	// Keeps is whether an Extend leaves a later expiry as it is (V13).
	Keeps bool
	// Shortens is whether it may make an expiry earlier (V6), Renews whether it gives
	// copies another name.
	Shortens, Renews bool
	// Steps are those of a Transact, one for each key.
	Steps []Step
}

// Asker is an attempt, as far as its tasks know it. index is Task.Index. The methods
// are called from the goroutines that serve the masters, several at a time.
type Asker interface {
	// GoesOut is asked right before a task is written; false drops it. The
	// link's mutex is held.
	GoesOut(index int, now time.Duration) bool
	// Vote takes the master's vote, which came at the time now. The link's mutex is
	// not held.
	Vote(index int, b vote.Ballot, now time.Duration)
}

// List is a list of masters, as far as the votes of an attempt depend on it (M8). Safe
// for concurrent use.
type List interface {
	// Title is what the marks call the list.
	Title() string
	// Saw notes a state that a mark bears.
	Saw(mark.Generation)
}

// Step is one key of a Transact: what must be found there, and what becomes of it.
type Step struct {
	Key string
	// Exists is whether the key must be there, and then with the token Was.
	Exists bool
	Was    string
	// Does is what becomes of it.
	Does Does
	// Token and TTL are what Stores stores, Hold is what the masters are given for
	// the TTL.
	Token     string
	TTL, Hold time.Duration
	// Keeps is whether a later expiry stays as it is (V13).
	Keeps bool
}

// Does is what becomes of a key.
type Does uint8

// What becomes of a key.
const (
	Keeps   Does = iota // nothing
	Deletes             // it is deleted
	Stores              // it holds another token, or the same for longer
)

// Creates reports whether the step stores something where nothing was.
func (s *Step) Creates() bool { return s.Does == Stores && !s.Exists }

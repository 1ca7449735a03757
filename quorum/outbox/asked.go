package outbox

import (
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Asked is what an attempt asks of all masters alike: its tasks share it.
type Asked struct {
	// By awaits the votes.
	By Asker
	// List is the one that the attempt began with (M8).
	List List
	// NewToken is what an Extend stores, if Replace is set; IfPresent makes Store
	// leave an absent key alone.
	NewToken           string
	Replace, IfPresent bool
	// Shortens is whether it may make an expiry earlier (V6), Renews whether it gives
	// copies another name.
	Shortens, Renews bool
	// Steps are those of a transact.
	Steps []Step
}

// Asker is an attempt, as far as its tasks know it. Both are called from the
// goroutine that sends to the master.
type Asker interface {
	// GoesOut is asked right before a task is written; false drops it.
	GoesOut(index int, now time.Duration) bool
	// Vote takes the master's vote, which came at the time now.
	Vote(index int, b vote.Ballot, now time.Duration)
}

// List is a list of masters, as far as the votes of an attempt depend on it (M8).
type List interface {
	// Title is what the marks call the list.
	Title() string
	// Saw notes a state that a mark bears.
	Saw(mark.Generation)
}

// Step is one key of a transact: what must be found there, and what becomes of it.
type Step struct {
	Key string
	// Exists is whether the key must be there, with the token was.
	Exists bool
	Was    string
	Does   Does
	// Token and TTL are what is to be stored, Hold what the masters are given for it.
	Token     string
	TTL, Hold time.Duration
}

// Does is what becomes of a key.
type Does uint8

// What becomes of a key: nothing, as a rule.
const (
	Keeps Does = iota
	Deletes
	Stores
)

// Creates reports whether the step stores something where nothing was.
func (s *Step) Creates() bool { return s.Does == Stores && !s.Exists }

package outbox

import (
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Asked is who asks for votes; the tasks of an attempt share it.
type Asked struct {
	// By receives the votes.
	By Asker
	// List is the list of masters when the attempt began (M8).
	List List
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

package outbox

import "time"

// Effect is what a master does to one key: which copy it must meet there, else nothing is done,
// and what becomes of that. Effects that go together are carried out together or not at all. An
// attempt's tasks share its effects; they must not be changed once the first task was sent.
type Effect struct {
	Key string
	// Meets is what must be there.
	Meets Meets
	// Token is the one that the copy must have, unless Meets says otherwise.
	Token string
	// Whose narrows down what is met, by IDs as they are written: for Token and Living to some
	// locks, empty for any (WATCH, S4); for Own it is the attempt, for Those the copies
	// ([tail.Tail.IDs]). A bare token has the lock 0, and meets Own.
	Whose string
	// Does is what becomes of it.
	Does Does
	// New is the token that the copy has then; it is not used where Does keeps any token.
	New string
	// TTL and Hold are what the client asked for, and for how long the masters keep that (V3).
	TTL, Hold time.Duration
}

// Meets is what must be under a key, in the words of [scripts.Change].
type Meets string

// What must be under a key.
const (
	Nothing  Meets = "nothing"  // the key is absent
	Token    Meets = "token"    // a copy with the token
	Living   Meets = "living"   // the same, and its TTL is not over (V15)
	Own      Meets = "own"      // a copy with the token that the attempt still has; to be raised, it must not be over
	Free     Meets = "free"     // nothing, or a copy with the token
	Present  Meets = "present"  // anything whose TTL is not over, also what is no lock
	Anything Meets = "anything" // anything, or nothing
	Those    Meets = "those"    // one of the copies that an operation met, or created (V6, V8)
)

// Does is what becomes of a key, in the words of [scripts.Change].
type Does string

// What becomes of a key.
const (
	Leaves  Does = "leave"  // it stays as it is
	Deletes Does = "delete" // it is deleted
	Stores  Does = "store"  // it holds a new copy
	Raises  Does = "raise"  // its copy goes to the attempt, and gets the later of all times (V6)
	Sets    Does = "set"    // the same, and gets the times given
	Keeps   Does = "keep"   // the same, and keeps its times (V13)
)

// Creates reports whether the effect may begin a lock.
func (e *Effect) Creates() bool {
	return e.Does == Stores && e.Meets == Nothing || e.Does == Raises && e.Meets == Free
}

// Gives reports whether a copy is stored, or given to the attempt.
func (e *Effect) Gives() bool { return e.Does != "" && e.Does != Leaves && e.Does != Deletes }

// Changes reports whether a copy that is met gets another token.
func (e *Effect) Changes() bool { return e.Gives() && e.Meets != Nothing && e.New != e.Token }

// Final reports whether the effect takes something from the lock that the key holds, which no
// rollback gives back: it deletes it, stores something over it, or gives it another token.
func (e *Effect) Final() bool {
	return e.Meets != Nothing && (e.Does == Deletes || e.Does == Stores || e.Changes())
}

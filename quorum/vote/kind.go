package vote

// Kind is what an operation does to a lock.
type Kind uint8

const (
	// Read asks which token has a quorum, and how much of its TTL is left (V10).
	Read Kind = iota
	// Acquire stores the token where the key is absent.
	Acquire
	// AcquireOrExtend stores the token where the key is absent and prolongs it where
	// the key already holds the token.
	AcquireOrExtend
	// Release deletes the key where it holds the token.
	Release
	// Extend gives the key a new TTL where it holds the token; with Replace it also
	// stores NewToken there.
	Extend
	// Remove deletes the key, whichever token it holds.
	Remove
	// Expire gives the key a new TTL, whichever token it holds.
	Expire
	// Store stores the token, overwriting any other; with IfPresent only where the key
	// exists.
	Store
	// Decide reads as Read does, passes the result to Op.Decide, and carries out the
	// operation that this returns. No other operation of this redlockd on the key runs
	// in between.
	Decide
	// DecideAll is Decide on several keys at once. Either all changes are made on a
	// majority, atomically on each master and only where every key still is as it was
	// read, or none is.
	DecideAll
	// Transact is the second half of DecideAll: it makes the changes.
	Transact
)

// String returns the kind's name in statistics.
func (k Kind) String() string {
	return [...]string{"read", "acquire", "acquire_or_extend", "release", "extend", "remove", "expire", "store", "decide", "transaction", "transact"}[k]
}

// Verdict is how an operation ended.
type Verdict uint8

const (
	// Undecided: too few masters answered. The outcome's error names them and the
	// reason.
	Undecided Verdict = iota
	// Won: a majority carried the operation out in time. For Acquire the client has the
	// lock, for Release it is free, for Store and Remove the change is made.
	Won
	// Held: a token was found. For Read it is in State; for the other kinds it is the
	// token that forbids the operation (for Acquire even an equal one).
	Held
	// NoLock: there is no such lock. For Read, Release, Extend, Remove, Expire, and for
	// Store with IfPresent.
	NoLock
	// Split: no token has a majority and retrying did not help (V5). The outcome's
	// error reports it.
	Split
	// Changed: a watched key was changed (quorum.Op.Unless) and nothing was done.
	Changed
)

func (v Verdict) String() string {
	return [...]string{"undecided", "won", "held", "absent", "split", "changed"}[v]
}

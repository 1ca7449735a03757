package vote

// Kind is what an operation does to a lock.
type Kind uint8

const (
	// Read asks which token has a quorum, and for how long (V10).
	Read Kind = iota
	// Acquire stores the token where the key is absent.
	Acquire
	// AcquireOrExtend stores the token where the key is absent and prolongs
	// it where the token is the same.
	AcquireOrExtend
	// Release deletes the key where it holds the token.
	Release
	// Extend gives the key a new TTL where it holds the token; with Replace
	// it stores NewToken there as well.
	Extend
	// Remove deletes the key whoever holds it.
	Remove
	// Expire gives the key a new TTL whoever holds it.
	Expire
	// Store stores the token whoever held the key before. With IfPresent
	// only where there is one.
	Store
	// Decide reads as Read does, asks Op.Decide what follows from that, and
	// carries it out without letting another operation on the key of this
	// redlockd in between.
	Decide
	// DecideAll is Decide on several keys at once: all changes are made on a
	// majority, atomically on each master and only where everything that was
	// read still is so, or none is.
	DecideAll
	// Transact is the second half of DecideAll.
	Transact
	// ListKeys and DBSize look at one master's keys (quorum/scan.go).
	ListKeys
	DBSize
)

func (k Kind) String() string {
	return [...]string{"read", "acquire", "acquire-or-extend", "release", "extend", "remove", "expire", "store", "decide", "decide-all", "transact",
		"list", "size"}[k]
}

// Verdict is how an operation ended.
type Verdict uint8

const (
	// Undecided: too few masters answered. The outcome's error says who and why.
	Undecided Verdict = iota
	// Won: carried out by a majority in time. For Acquire the lock is the
	// client's, for Release it is free, for Store and Remove it is done.
	Won
	// Held: a token is there: for Read it is in State; for the others it is
	// one that forbids the operation (for Acquire also an equal one).
	Held
	// NoLock: there is no such lock. Read, Release, Extend, Remove, Expire,
	// and Store with IfPresent.
	NoLock
	// Split: no token has a majority and retrying did not help (V5).
	// The outcome's error says so.
	Split
	// Changed: a watched key was changed (quorum.Op.Unless) and nothing was done.
	Changed
)

func (v Verdict) String() string {
	return [...]string{"undecided", "won", "held", "absent", "split", "changed"}[v]
}

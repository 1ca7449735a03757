package quorum

// voteKind is what an operation does to a lock.
type voteKind uint8

const (
	// kRead asks which token has a quorum, and for how long (V10).
	kRead voteKind = iota
	// kAcquire stores the token where the key is absent.
	kAcquire
	// kAcquireOrExtend stores the token where the key is absent and prolongs
	// it where the token is the same.
	kAcquireOrExtend
	// kRelease deletes the key where it holds the token.
	kRelease
	// kExtend gives the key a new TTL where it holds the token; with Replace
	// it stores NewToken there as well.
	kExtend
	// kRemove deletes the key whoever holds it.
	kRemove
	// kExpire gives the key a new TTL whoever holds it.
	kExpire
	// kStore stores the token whoever held the key before. With IfPresent
	// only where there is one.
	kStore
	// kDecide reads as Read does, asks Op.Decide what follows from that, and
	// carries it out without letting another operation on the key of this
	// redlockd in between.
	kDecide
	// kDecideAll is Decide on several keys at once: all changes are made on a
	// majority, atomically on each master and only where everything that was
	// read still is so, or none is.
	kDecideAll
	// kTransact is the second half of DecideAll.
	kTransact
	// kListKeys and dbSize look at one master's keys (scan.go).
	kListKeys
	kDbSize
)

func (k voteKind) String() string {
	return [...]string{"read", "acquire", "acquire-or-extend", "release", "extend", "remove", "expire", "store", "decide", "decide-all", "transact",
		"list", "size"}[k]
}

// voteVerdict is how an operation ended.
type voteVerdict uint8

const (
	// vUndecided: too few masters answered. The outcome's error says who and why.
	vUndecided voteVerdict = iota
	// vWon: carried out by a majority in time. For Acquire the lock is the
	// client's, for Release it is free, for Store and Remove it is done.
	vWon
	// vHeld: a token is there: for Read it is in State; for the others it is
	// one that forbids the operation (for Acquire also an equal one).
	vHeld
	// vAbsent: there is no such lock. Read, Release, Extend, Remove, Expire,
	// and Store with IfPresent.
	vAbsent
	// vSplit: no token has a majority and retrying did not help (V5).
	// The outcome's error says so.
	vSplit
	// vChanged: a watched key was changed (quorum.Op.Unless) and nothing was done.
	vChanged
)

func (v voteVerdict) String() string {
	return [...]string{"undecided", "won", "held", "absent", "split", "changed"}[v]
}

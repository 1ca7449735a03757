package quorum

// state is what a master can do now, in one word for people.
type state string

const (
	// stateVoting: it is asked and its votes count.
	stateVoting state = "voting"
	// stateQuarantine: it may have forgotten locks (M4).
	stateQuarantine state = "quarantine"
	// stateFresh: it has never had a mark, or is waiting out its first one (M6).
	stateFresh state = "new"
	// stateFrozen: connected, but its oldest unanswered operation is older than
	// the timeout (M1).
	stateFrozen state = "frozen"
	// stateDown: there is no connection.
	stateDown state = "down"
	// stateRefused: it answers, but is not the master that was configured, or is
	// too old.
	stateRefused state = "refused"
)

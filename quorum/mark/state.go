package mark

// State is what a master can do now, in one word for operators.
type State string

const (
	// Voting: it is asked, and its votes count.
	Voting State = "voting"
	// Quarantine: it may have forgotten locks (M4).
	Quarantine State = "quarantine"
	// Fresh: it never had a mark, or waits out its first quarantine (M6).
	Fresh State = "new"
	// Frozen: it is connected, but its oldest unanswered operation is older than the
	// timeout (M1).
	Frozen State = "frozen"
	// Down: there is no connection.
	Down State = "down"
	// Refused: it answers, but is not the master that was configured, or is too old.
	Refused State = "refused"
)

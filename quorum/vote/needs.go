package vote

// Majority returns how many of n masters must agree: n/2+1.
func Majority(n int) int { return n/2 + 1 }

// Needs is what an attempt requires of the masters: how many must agree, and which one
// must be among them (V11).
type Needs struct {
	Quorum int
	// Required is the index of the required master, or -1.
	Required int
	// LeavingCopies is the number of masters that are being removed from the list (M8).
	// They are not asked but may still hold a copy, so a negative answer counts them as
	// silent.
	LeavingCopies int
	// Changing reports whether the list of masters is changing. A lock may then be
	// older than the required master's role, so its word alone proves nothing
	// (V11).
	Changing bool
	// Least is the smallest quorum of the list in force and the announced one (M8); 0
	// stands for Quorum. A token that fewer masters may hold is certainly no lock.
	Least int
}

// requiredAnswer is what the required master's answer counts for, besides its part in
// the majority; None if there is no required master.
type requiredAnswer uint8

const (
	None requiredAnswer = iota
	waits
	agrees
	Denies
	// Mute: the required master did not answer, or its answer does not count because it
	// may have forgotten locks.
	Mute
)

// AnswerOf returns what the required master's ballot counts for.
func (n Needs) AnswerOf(ballots []Ballot) requiredAnswer {
	if n.Required < 0 {
		return None
	}
	if ballots[n.Required].Doubtful {
		return Mute
	}
	switch ballots[n.Required].Vote {
	case Awaited, Unasked:
		return waits
	case Silent:
		return Mute
	case Created, Prolonged, Longer, Released:
		return agrees
	default:
		return Denies
	}
}

// HeldBy reports whether the required master's refusal alone shows that the lock is
// held (V11): the ballots contain no token except that one and ours.
func (n Needs) HeldBy(ballots []Ballot, ours string) bool {
	if n.AnswerOf(ballots) != Denies || ballots[n.Required].Vote == Absent {
		return false
	}
	its := &ballots[n.Required]
	return HowMany(ballots, func(b *Ballot) bool { return b.Met() && !b.same(its) && (b.Token != ours || b.Foreign) }) == 0
}

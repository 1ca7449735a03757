package vote

// Majority is how many of n masters must agree: n/2+1.
func Majority(n int) int { return n/2 + 1 }

// Needs is what an attempt needs of the masters: how many must agree, and
// which one must be among them (V11).
type Needs struct {
	Quorum int
	// Required is the index of the required master, or -1.
	Required int
	// Gone is how many masters that are not asked may hold a copy, since the
	// list of masters changes (M8): for who says no they are silent.
	Gone int
	// Changing is whether the list of masters changes: then a lock may be older
	// than the required master's being one (V11).
	Changing bool
	// Least is the smallest quorum that counts, where that is not quorum: of a
	// list that is announced (M8). What fewer may have is no lock for sure.
	Least int
}

// word is the answer of the required master: what it counts for besides the
// majority. Without such a master it is none.
type word uint8

const (
	None word = iota
	waits
	agrees
	Denies
	// Mute: its word is not known, or does not count, since it may have
	// forgotten locks.
	Mute
)

// WordOf reads the required master's ballot.
func (n Needs) WordOf(ballots []Ballot) word {
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

// HeldBy reports whether the required master's refusal says that the lock is held
// (V11): no other token than that one and ours was met.
func (n Needs) HeldBy(ballots []Ballot, ours string) bool {
	if n.WordOf(ballots) != Denies {
		return false
	}
	its := &ballots[n.Required]
	if its.Vote == Absent {
		return false
	}
	for i := range ballots {
		b := &ballots[i]
		met := b.Vote == Refused || b.Vote == Found
		if met && !b.same(its) && (b.Token != ours || b.Foreign) {
			return false
		}
	}
	return true
}

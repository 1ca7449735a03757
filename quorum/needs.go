package quorum

// needs is what an attempt needs of the masters: how many must agree, and
// which one must be among them (V11).
type needs struct {
	quorum int
	// required is the index of the required master, or -1.
	required int
	// gone is how many masters that are not asked may hold a copy, since the
	// list of masters changes (M8): for who says no they are silent.
	gone int
	// changing is whether the list of masters changes: then a lock may be older
	// than the required master's being one (V11).
	changing bool
	// least is the smallest quorum that counts, where that is not quorum: of a
	// list that is announced (M8). What fewer may have is no lock for sure.
	least int
}

// word is the answer of the required master: what it counts for besides the
// majority. Without such a master it is none.
type word uint8

const (
	none word = iota
	waits
	agrees
	denies
	// mute: its word is not known, or does not count, since it may have
	// forgotten locks.
	mute
)

// wordOf reads the required master's ballot.
func (n needs) wordOf(ballots []ballot) word {
	if n.required < 0 {
		return none
	}
	if ballots[n.required].doubtful {
		return mute
	}
	switch ballots[n.required].vote {
	case awaited, unasked:
		return waits
	case silent:
		return mute
	case created, prolonged, longer, released:
		return agrees
	default:
		return denies
	}
}

// heldBy reports whether the required master's refusal says that the lock is held
// (V11): no other token than that one and ours was met.
func (n needs) heldBy(ballots []ballot, ours string) bool {
	if n.wordOf(ballots) != denies {
		return false
	}
	its := &ballots[n.required]
	if its.vote == absent {
		return false
	}
	for i := range ballots {
		b := &ballots[i]
		met := b.vote == refused || b.vote == found
		if met && !b.same(its) && (b.token != ours || b.foreign) {
			return false
		}
	}
	return true
}

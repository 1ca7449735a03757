package vote

// Weight is what a master's answer counts for.
type Weight uint8

const (
	// Full: as it is.
	Full Weight = iota
	// NoAbsence: as it is, but that the key is absent is no vote (M5).
	NoAbsence
	// FoundOnly: what was found counts for reads and releases, and a copy that was deleted
	// is gone; nothing else counts (M4).
	FoundOnly
	// HealOnly: it is no vote; where the key is absent an extend may heal it (M8, V9).
	HealOnly
	// Void: it is no vote, and nothing is known of the key.
	Void
)

// Standing is what is known of a master when its answer to an attempt arrives.
type Standing struct {
	// Fits reports whether its mark, its seat and its clock are still those under which it was
	// asked, and its mark lets it vote in the attempt's list of masters (M3, M5, M8, M9).
	Fits bool
	// Joins reports whether it joins the list and does not vote yet (M8).
	Joins bool
	// Quarantined reports whether it may have forgotten locks, or have data of an earlier
	// time (M4, M9).
	Quarantined bool
	// MayHaveStepped reports whether its clock may have stepped together with those of
	// others, which ends copies too early (M5).
	MayHaveStepped bool
}

// Weight returns what the master's answer counts for.
func (s Standing) Weight() Weight {
	switch {
	case !s.Fits:
		return Void
	case s.Joins:
		return HealOnly
	case s.Quarantined:
		return FoundOnly
	case s.MayHaveStepped:
		return NoAbsence
	default:
		return Full
	}
}

// Of returns the vote that counts where a master has answered b to an operation of this kind.
func (w Weight) Of(b Ballot, asked Kind) Ballot {
	absent := w != Full && w != Void && (b.Vote == Absent || b.AbsentVoid)
	if w == Void || w == HealOnly || absent || w == FoundOnly && !asked.counts(b) {
		return Ballot{Vote: Silent, AbsentVoid: absent, MayAct: b.MayAct, Unsettled: b.Unsettled}
	}
	b.Doubtful = w == FoundOnly && b.Vote == Found
	return b
}

// counts reports whether the answer counts though the master may have forgotten locks. A copy
// found on it extends nothing: an operation that came late may have created it after the master
// forgot its vote for another lock. Nor does its refusal by another token deny an extend or a
// release, since that token may be of an earlier time.
func (k Kind) counts(b Ballot) bool {
	switch b.Vote {
	case Created, Prolonged, Longer:
		return false
	case Refused:
		return k != Extend && k != Release || b.Foreign
	default:
		return true
	}
}

package vote

// Question is what the masters were asked, as far as the verdict depends on it.
type Question struct {
	Kind Kind
	// Token is the token of the client that asks.
	Token string
	// IfPresent reports whether a Store leaves an absent key alone, Frees whether a
	// transaction only deletes keys.
	IfPresent, Frees bool
}

// VerdictOf returns the verdict on the ballots of an attempt. certain is false while an
// awaited vote may still change it. When the attempt's time is over the caller turns
// awaited votes into silent ones, and then every verdict is certain. It is a pure
// function (V4, V8, V10, V11).
func VerdictOf(asked Question, ballots []Ballot, n Needs) (v Verdict, certain bool) {
	t := Count(ballots, n)
	switch asked.Kind {
	case Acquire, AcquireOrExtend:
		return t.acquire(n.HeldBy(ballots, asked.Token))
	case Release, Remove:
		return t.release()
	case Extend, Expire:
		return t.extend()
	case Store:
		return t.store(asked.IfPresent)
	case Transact:
		return t.transact(asked.Frees)
	default:
		return t.read()
	}
}

// acquire is V4. If a token would have a quorum only together with the silent masters,
// the verdict is Split, which is tried again. held reports whether the required
// master's refusal alone is enough, by the votes so far (V11).
func (t *Tally) acquire(held bool) (Verdict, bool) {
	refusable := t.Required == None || t.Required == Denies
	switch {
	case t.Agreed():
		return Won, true
	case t.Required == Mute:
		return Undecided, true
	case t.Yes+t.Awaited >= t.Quorum && t.Required != Denies:
		return Undecided, false
	case t.MostCount >= t.Quorum && refusable, held && t.Answered >= t.Quorum:
		return Held, true
	case t.Required == waits, t.Awaited > 0 && (held || t.MostCount+t.Awaited >= t.Quorum && t.Required != agrees):
		return Undecided, false
	case t.Answered >= t.Quorum:
		return Split, true
	default:
		return Undecided, t.Answered+t.Awaited < t.Quorum
	}
}

// release is V8: h is the number of masters that released (Yes), s that of the silent
// ones (Unknown). If the required master held the token, it is released; while that
// master is mute, the release is undecided (V11).
func (t *Tally) release() (Verdict, bool) {
	switch {
	case t.Yes >= t.Quorum:
		return Won, true
	case t.Yes+t.Awaited >= t.Quorum || t.Required == waits:
		return Undecided, false
	case t.Required == agrees:
		return Won, true
	case t.Required == Mute:
		return Undecided, true
	case t.Yes+t.Unknown+t.Awaited < t.Least:
		return t.negative()
	case t.Awaited > 0:
		return Undecided, false
	case t.Yes >= 1 && t.Answered >= t.Quorum && t.Met == 0:
		return Won, true
	default:
		return Undecided, true
	}
}

// extend is V8: h is the number of masters that prolonged (Yes), s that of the silent
// ones (Unknown). A lock that the required master lacks, or may have forgotten, is not
// extended (V11), unless the lock may be older than that master's role. What it did extend
// is no other client's lock, though no quorum may have it.
func (t *Tally) extend() (Verdict, bool) {
	switch {
	case t.Agreed():
		return Won, true
	case t.Required == waits:
		return Undecided, false
	case t.Required == Mute:
		return Undecided, true
	case t.Required == Denies && t.RequiredBallot.Vote == Absent && !t.changing:
		return NoLock, true
	case t.Required == Denies && !t.changing:
		return Held, true
	case t.Alone():
		return Undecided, true
	case t.Yes+t.Unknown+t.Awaited < t.Least:
		return t.negative()
	default:
		return Undecided, (t.Yes+t.Awaited < t.Quorum || t.Required == Denies) && t.Yes+t.Unknown >= t.Least
	}
}

// transact is won, like an extend, once a quorum made the changes; a transaction that
// only deletes is also won, like a release, by the required master's word. If no quorum
// can have made the changes, some key was not as it was read: Changed.
func (t *Tally) transact(frees bool) (Verdict, bool) {
	if t.Required == agrees && frees && t.Yes+t.Awaited < t.Quorum {
		return Won, true
	}
	v, certain := t.extend()
	if v == Held || v == NoLock {
		v = Changed
	}
	return v, certain
}

// store decides a Store, which no token refuses. If no majority did it in time, it may
// still have been done on any number of masters, or none: Undecided.
func (t *Tally) store(ifPresent bool) (Verdict, bool) {
	refusable := t.Required == None || t.Required == Denies
	switch {
	case t.Agreed():
		return Won, true
	case ifPresent && t.Required == Denies && !t.changing:
		return NoLock, true
	case ifPresent && refusable && t.Yes+t.Unknown+t.Awaited < t.Least:
		return NoLock, true
	default:
		return Undecided, t.Awaited == 0
	}
}

// read is V10: Held if a token has a quorum and no other one may have it (contested),
// NoLock if fewer than a quorum can have any token, even with all silent masters. The required master is always
// waited for: a token of its own counts although no quorum has it, and a quorum's token is
// no lock if it has no key (V11).
func (t *Tally) read() (Verdict, bool) {
	switch {
	case t.Required == waits:
		return Undecided, t.Awaited == 0
	case t.MostCount >= t.Quorum && t.overruled():
		return NoLock, true
	case t.MostCount >= t.Quorum && t.Required == Mute:
		return Undecided, t.Awaited == 0
	case t.MostCount >= t.Quorum && t.firm > 0 && !t.contested():
		return Held, true
	case t.MostCount+t.Awaited >= t.Quorum:
		return Undecided, t.Awaited == 0
	case t.RequiredHolds() && !t.changing:
		return Held, true
	case t.Required == Mute:
		return Undecided, true
	case t.absent():
		return NoLock, true
	default:
		return Undecided, t.Awaited == 0
	}
}

// negative distinguishes, like a read (V10), between Held and NoLock for an operation
// that no quorum can have carried out. If a quorum may have tokens, also different ones,
// the answer is Held.
func (t *Tally) negative() (Verdict, bool) {
	switch {
	case t.absent(), t.overruled():
		return NoLock, true
	case t.Met+t.Unknown >= t.Least:
		return Held, true
	default:
		return Undecided, false
	}
}

package vote

// Question is what the masters were asked, as far as the verdict depends on it.
type Question struct {
	Kind Kind
	// Token is the asker's own.
	Token string
	// IfPresent is whether a Store leaves an absent key alone, Frees whether a
	// transaction only deletes.
	IfPresent, Frees bool
}

// VerdictOf says what the ballots of an attempt amount to. certain is false
// while an awaited vote may still change the answer; at the end of the time
// the caller turns awaited votes into silent ones, and then every verdict is
// certain. It is a pure function (V4, V8, V10, V11).
func VerdictOf(asked Question, ballots []Ballot, n Needs) (v Verdict, certain bool) {
	t := Count(ballots, n)
	switch asked.Kind {
	case Acquire, AcquireOrExtend:
		return t.acquire(len(ballots), n.HeldBy(ballots, asked.Token))
	case Release, Remove:
		return t.release(len(ballots))
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

// acquire is V4. Where one token would be on a quorum only with the silent
// masters it is a Split, which is tried again. held is whether the required
// master's refusal is enough, as far as the votes tell (V11).
func (t *Tally) acquire(n int, held bool) (Verdict, bool) {
	answered := t.Yes + t.Absent + t.Met(n)
	refusable := t.Required == None || t.Required == Denies
	switch {
	case t.agreed():
		return Won, true
	case t.Required == Mute:
		return Undecided, true
	case t.Yes+t.Awaited >= t.Quorum && t.Required != Denies:
		return Undecided, false
	case t.MostCount >= t.Quorum && refusable, held && answered >= t.Quorum:
		return Held, true
	case t.Required == waits, t.Awaited > 0 && (held || t.MostCount+t.Awaited >= t.Quorum && t.Required != agrees):
		return Undecided, false
	case answered >= t.Quorum:
		return Split, true
	default:
		return Undecided, answered+t.Awaited < t.Quorum
	}
}

// release is V8: h released (yes), s silent (unheard). Where the required master had
// the token it is released, and where nobody knows whether it had nobody can
// tell (V11).
func (t *Tally) release(n int) (Verdict, bool) {
	answered := t.Yes + t.Absent + t.Met(n)
	switch {
	case t.Yes >= t.Quorum:
		return Won, true
	case t.Yes+t.Awaited >= t.Quorum || t.Required == waits:
		return Undecided, false
	case t.Required == agrees:
		return Won, true
	case t.Required == Mute:
		return Undecided, true
	case t.Yes+t.Unheard+t.Awaited < t.least:
		return t.no()
	case t.Awaited > 0:
		return Undecided, false
	case t.Yes >= 1 && answered >= t.Quorum && t.Met(n) == 0:
		return Won, true
	default:
		return Undecided, true
	}
}

// extend is V8: h prolonged (yes), s silent (unheard). What the required master has
// not, or may have forgotten, is not extended (V11).
func (t *Tally) extend() (Verdict, bool) {
	switch {
	case t.agreed():
		return Won, true
	case t.Required == waits:
		return Undecided, false
	case t.Required == Mute:
		return Undecided, true
	case t.Required == Denies && t.Its.Vote == Absent:
		return NoLock, true
	case t.Required == Denies:
		return Held, true
	case t.Yes+t.Unheard+t.Awaited < t.least:
		return t.no()
	default:
		return Undecided, t.Yes+t.Awaited < t.Quorum && t.Yes+t.Unheard >= t.least
	}
}

// transact is won, like an extend, by a quorum that made the changes; what
// only deletes is like a release. Where no quorum can have made them
// something was not as it was read.
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

// store has no token to refuse it: what is not done by a majority in time may
// have been done by none.
func (t *Tally) store(ifPresent bool) (Verdict, bool) {
	known := t.Required == None || t.Required == agrees
	switch {
	case t.agreed():
		return Won, true
	case ifPresent && t.Required == Denies:
		return NoLock, true
	case ifPresent && known && t.Yes+t.Unheard+t.Awaited < t.least:
		return NoLock, true
	default:
		return Undecided, t.Awaited == 0
	}
}

// read is V10: a token with a quorum, or absent when none can have one even
// if all silent masters held it. What no quorum knows the required master may,
// and against its word no quorum's token is a lock, so it is waited for (V11).
func (t *Tally) read() (Verdict, bool) {
	switch {
	case t.Required == waits:
		return Undecided, t.Awaited == 0
	case t.MostCount >= t.Quorum && t.lacks():
		return NoLock, true
	case t.MostCount >= t.Quorum && t.Required == Mute:
		return Undecided, t.Awaited == 0
	case t.MostCount >= t.Quorum && t.sound:
		return Held, true
	case t.MostCount+t.Awaited >= t.Quorum:
		return Undecided, t.Awaited == 0
	case t.ItsWord():
		return Held, true
	case t.Required == Mute:
		return Undecided, true
	case t.reach+t.Unheard+t.Awaited < t.least:
		return NoLock, true
	default:
		return Undecided, t.Awaited == 0
	}
}

// no tells a no because of another token from one because there is no lock, as
// a read would (V10); where nobody can tell, because of a token.
func (t *Tally) no() (Verdict, bool) {
	switch {
	case t.reach+t.Unheard+t.Awaited < t.least, t.lacks():
		return NoLock, true
	case t.MostCount >= t.Quorum, t.reach+t.Unheard >= t.least:
		return Held, true
	default:
		return Undecided, false
	}
}

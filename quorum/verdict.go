package quorum

// question is what the masters were asked, as far as the verdict depends on it.
type question struct {
	kind voteKind
	// token is the asker's own.
	token string
	// ifPresent is whether a Store leaves an absent key alone, frees whether a
	// transaction only deletes.
	ifPresent, frees bool
}

// verdictOf says what the ballots of an attempt amount to. certain is false
// while an awaited vote may still change the answer; at the end of the time
// the caller turns awaited votes into silent ones, and then every verdict is
// certain. It is a pure function (V4, V8, V10, V11).
func verdictOf(asked question, ballots []ballot, n needs) (v voteVerdict, certain bool) {
	t := count(ballots, n)
	switch asked.kind {
	case kAcquire, kAcquireOrExtend:
		return t.acquire(len(ballots), n.heldBy(ballots, asked.token))
	case kRelease, kRemove:
		return t.release(len(ballots))
	case kExtend, kExpire:
		return t.extend()
	case kStore:
		return t.store(asked.ifPresent)
	case kTransact:
		return t.transact(asked.frees)
	default:
		return t.read()
	}
}

// acquire is V4. Where one token would be on a quorum only with the silent
// masters it is a Split, which is tried again. held is whether the required
// master's refusal is enough, as far as the votes tell (V11).
func (t *tally) acquire(n int, held bool) (voteVerdict, bool) {
	answered := t.yes + t.absent + t.met(n)
	refusable := t.required == none || t.required == denies
	switch {
	case t.agreed():
		return vWon, true
	case t.required == mute:
		return vUndecided, true
	case t.yes+t.awaited >= t.quorum && t.required != denies:
		return vUndecided, false
	case t.mostCount >= t.quorum && refusable, held && answered >= t.quorum:
		return vHeld, true
	case t.required == waits, t.awaited > 0 && (held || t.mostCount+t.awaited >= t.quorum && t.required != agrees):
		return vUndecided, false
	case answered >= t.quorum:
		return vSplit, true
	default:
		return vUndecided, answered+t.awaited < t.quorum
	}
}

// release is V8: h released (yes), s silent (unheard). Where the required master had
// the token it is released, and where nobody knows whether it had nobody can
// tell (V11).
func (t *tally) release(n int) (voteVerdict, bool) {
	answered := t.yes + t.absent + t.met(n)
	switch {
	case t.yes >= t.quorum:
		return vWon, true
	case t.yes+t.awaited >= t.quorum || t.required == waits:
		return vUndecided, false
	case t.required == agrees:
		return vWon, true
	case t.required == mute:
		return vUndecided, true
	case t.yes+t.unheard+t.awaited < t.least:
		return t.no()
	case t.awaited > 0:
		return vUndecided, false
	case t.yes >= 1 && answered >= t.quorum && t.met(n) == 0:
		return vWon, true
	default:
		return vUndecided, true
	}
}

// extend is V8: h prolonged (yes), s silent (unheard). What the required master has
// not, or may have forgotten, is not extended (V11).
func (t *tally) extend() (voteVerdict, bool) {
	switch {
	case t.agreed():
		return vWon, true
	case t.required == waits:
		return vUndecided, false
	case t.required == mute:
		return vUndecided, true
	case t.required == denies && t.its.vote == absent:
		return vAbsent, true
	case t.required == denies:
		return vHeld, true
	case t.yes+t.unheard+t.awaited < t.least:
		return t.no()
	default:
		return vUndecided, t.yes+t.awaited < t.quorum && t.yes+t.unheard >= t.least
	}
}

// transact is won, like an extend, by a quorum that made the changes; what
// only deletes is like a release. Where no quorum can have made them
// something was not as it was read.
func (t *tally) transact(frees bool) (voteVerdict, bool) {
	if t.required == agrees && frees && t.yes+t.awaited < t.quorum {
		return vWon, true
	}
	v, certain := t.extend()
	if v == vHeld || v == vAbsent {
		v = vChanged
	}
	return v, certain
}

// store has no token to refuse it: what is not done by a majority in time may
// have been done by none.
func (t *tally) store(ifPresent bool) (voteVerdict, bool) {
	known := t.required == none || t.required == agrees
	switch {
	case t.agreed():
		return vWon, true
	case ifPresent && t.required == denies:
		return vAbsent, true
	case ifPresent && known && t.yes+t.unheard+t.awaited < t.least:
		return vAbsent, true
	default:
		return vUndecided, t.awaited == 0
	}
}

// read is V10: a token with a quorum, or absent when none can have one even
// if all silent masters held it. What no quorum knows the required master may,
// and against its word no quorum's token is a lock, so it is waited for (V11).
func (t *tally) read() (voteVerdict, bool) {
	switch {
	case t.required == waits:
		return vUndecided, t.awaited == 0
	case t.mostCount >= t.quorum && t.lacks():
		return vAbsent, true
	case t.mostCount >= t.quorum && t.sound:
		return vHeld, true
	case t.mostCount+t.awaited >= t.quorum:
		return vUndecided, t.awaited == 0
	case t.itsWord():
		return vHeld, true
	case t.required == mute:
		return vUndecided, true
	case t.reach+t.unheard+t.awaited < t.least:
		return vAbsent, true
	default:
		return vUndecided, t.awaited == 0
	}
}

// no tells a no because of another token from one because there is no lock, as
// a read would (V10); where nobody can tell, because of a token.
func (t *tally) no() (voteVerdict, bool) {
	switch {
	case t.reach+t.unheard+t.awaited < t.least, t.lacks():
		return vAbsent, true
	case t.mostCount >= t.quorum, t.reach+t.unheard >= t.least:
		return vHeld, true
	default:
		return vUndecided, false
	}
}

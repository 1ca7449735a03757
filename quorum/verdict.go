package quorum

// verdictOf says what the ballots of an attempt amount to. certain is false
// while an awaited vote may still change the answer; at the end of the time
// the caller turns awaited votes into silent ones, and then every verdict is
// certain. It is a pure function (V4, V8, V10, V11).
func verdictOf(op *Op, ballots []ballot, n needs) (v Verdict, certain bool) {
	t := count(ballots, n)
	switch op.Kind {
	case Acquire, AcquireOrExtend:
		return t.acquire(len(ballots), n.heldBy(ballots, op.Token))
	case Release, Remove:
		return t.release(len(ballots))
	case Extend, Expire:
		return t.extend()
	case Store:
		return t.store(op.IfPresent)
	case transact:
		return t.transact(op)
	default:
		return t.read()
	}
}

// acquire is V4. Where one token would be on a quorum only with the silent
// masters it is a Split, which is tried again. held is whether the required
// master's refusal is enough, as far as the votes tell (V11).
func (t *tally) acquire(n int, held bool) (Verdict, bool) {
	answered := t.yes + t.absent + t.met(n)
	refusable := t.required == none || t.required == denies
	switch {
	case t.agreed():
		return Won, true
	case t.required == mute:
		return Undecided, true
	case t.yes+t.awaited >= t.quorum && t.required != denies:
		return Undecided, false
	case t.mostCount >= t.quorum && refusable, held && answered >= t.quorum:
		return Held, true
	case t.required == waits, t.awaited > 0 && (held || t.mostCount+t.awaited >= t.quorum && t.required != agrees):
		return Undecided, false
	case answered >= t.quorum:
		return Split, true
	default:
		return Undecided, answered+t.awaited < t.quorum
	}
}

// release is V8: h released (yes), s silent (unheard). Where the required master had
// the token it is released, and where nobody knows whether it had nobody can
// tell (V11).
func (t *tally) release(n int) (Verdict, bool) {
	answered := t.yes + t.absent + t.met(n)
	switch {
	case t.yes >= t.quorum:
		return Won, true
	case t.yes+t.awaited >= t.quorum || t.required == waits:
		return Undecided, false
	case t.required == agrees:
		return Won, true
	case t.required == mute:
		return Undecided, true
	case t.yes+t.unheard+t.awaited < t.least:
		return t.no()
	case t.awaited > 0:
		return Undecided, false
	case t.yes >= 1 && answered >= t.quorum && t.met(n) == 0:
		return Won, true
	default:
		return Undecided, true
	}
}

// extend is V8: h prolonged (yes), s silent (unheard). What the required master has
// not, or may have forgotten, is not extended (V11).
func (t *tally) extend() (Verdict, bool) {
	switch {
	case t.agreed():
		return Won, true
	case t.required == waits:
		return Undecided, false
	case t.required == mute:
		return Undecided, true
	case t.required == denies && t.its.vote == absent:
		return Absent, true
	case t.required == denies:
		return Held, true
	case t.yes+t.unheard+t.awaited < t.least:
		return t.no()
	default:
		return Undecided, t.yes+t.awaited < t.quorum && t.yes+t.unheard >= t.least
	}
}

// transact is won, like an extend, by a quorum that made the changes; what
// only deletes is like a release. Where no quorum can have made them
// something was not as it was read.
func (t *tally) transact(op *Op) (Verdict, bool) {
	if t.required == agrees && op.TTL == 0 && t.yes+t.awaited < t.quorum {
		return Won, true
	}
	v, certain := t.extend()
	if v == Held || v == Absent {
		v = Changed
	}
	return v, certain
}

// store has no token to refuse it: what is not done by a majority in time may
// have been done by none.
func (t *tally) store(ifPresent bool) (Verdict, bool) {
	known := t.required == none || t.required == agrees
	switch {
	case t.agreed():
		return Won, true
	case ifPresent && t.required == denies:
		return Absent, true
	case ifPresent && known && t.yes+t.unheard+t.awaited < t.least:
		return Absent, true
	default:
		return Undecided, t.awaited == 0
	}
}

// read is V10: a token with a quorum, or absent when none can have one even
// if all silent masters held it. What no quorum knows the required master may,
// and against its word no quorum's token is a lock, so it is waited for (V11).
func (t *tally) read() (Verdict, bool) {
	switch {
	case t.required == waits:
		return Undecided, t.awaited == 0
	case t.mostCount >= t.quorum && t.lacks():
		return Absent, true
	case t.mostCount >= t.quorum && t.sound:
		return Held, true
	case t.mostCount+t.awaited >= t.quorum:
		return Undecided, t.awaited == 0
	case t.itsWord():
		return Held, true
	case t.required == mute:
		return Undecided, true
	case t.reach+t.unheard+t.awaited < t.least:
		return Absent, true
	default:
		return Undecided, t.awaited == 0
	}
}

// no tells a no because of another token from one because there is no lock, as
// a read would (V10); where nobody can tell, because of a token.
func (t *tally) no() (Verdict, bool) {
	switch {
	case t.reach+t.unheard+t.awaited < t.least, t.lacks():
		return Absent, true
	case t.mostCount >= t.quorum, t.reach+t.unheard >= t.least:
		return Held, true
	default:
		return Undecided, false
	}
}

package quorum

import (
	"cmp"
	"time"
)

// vote is one master's answer.
type vote uint8

const (
	// awaited: it may still come in time.
	awaited vote = iota
	// unasked: not asked yet (V5); it counts as awaited until it is.
	unasked
	// created: the key was absent and is there now.
	created
	// prolonged: the key held the token and has the new expiry now; also one
	// that was stored over whatever was there.
	prolonged
	// longer: the key holds the token, and has a later expiry than it was to get,
	// which it keeps.
	longer
	// refused: the key holds a token that forbids the operation.
	refused
	// found: the key holds a token, and nothing was changed (Read).
	found
	// released: the key held the token, or anything for Remove, and is gone.
	released
	// absent: there is no such key.
	absent
	// silent: known not to come in time.
	silent
)

// ballot is a vote with what came along.
type ballot struct {
	vote vote
	// foreign is whether the key is no string (V14, WRONGTYPE).
	foreign bool
	// lost is whether the key is absent on a master whose vote is silent,
	// since it is in quarantine (M4) or joining the list (M8).
	lost bool
	// unsure is whether a silent master may still carry the operation out: its
	// answer will not come.
	unsure bool
	// doubtful is whether what was found is on a master in quarantine.
	doubtful bool
	// void is whether a silent master has answered, and that does not count.
	void bool
	// over is whether the TTL that was asked for is over (found, V15).
	over bool
	// token is the token in the way (refused) or found.
	token string
	// left is what remains of the hold (found).
	left time.Duration
	// expiry is when the master forgets it, in its own milliseconds (found; also
	// prolonged, if it has kept a later one than it was to get).
	expiry int64
}

// same reports whether two masters hold the same token.
func (b *ballot) same(other *ballot) bool {
	return b.token == other.token && b.foreign == other.foreign
}

// tally counts the ballots of one attempt.
type tally struct {
	quorum, least                 int
	awaited, yes, absent, silent  int
	created, prolonged, tokenless int
	// most is the token that was met most often, mostCount how often.
	most      string
	mostCount int
	// sound is whether a master has it that is not in quarantine.
	sound bool
	// reach is how many masters at most one token has: those where it was
	// met, and those in quarantine that hold another one, since they do not
	// tell what they held before.
	reach int
	// required is the required master's word (V11), its what it holds, if
	// there is such a master.
	required word
	its      *ballot
	// changing is whether the list of masters changes (needs).
	changing bool
	// unheard are the silent masters, and those that are not asked any more
	// (needs.gone): what they hold is not known.
	unheard int
}

// count tallies the ballots.
func count(ballots []ballot, n needs) tally {
	t := tally{quorum: n.quorum, least: cmp.Or(n.least, n.quorum), changing: n.changing, required: n.wordOf(ballots)}
	if t.required != none {
		t.its = &ballots[n.required]
	}
	met := false
	for i := range ballots {
		b := &ballots[i]
		met = met || b.doubtful
		switch b.vote {
		case awaited, unasked:
			t.awaited++
		case created:
			t.created++
			t.yes++
		case prolonged, longer:
			t.prolonged++
			t.yes++
		case released:
			t.yes++
		case absent:
			t.absent++
		case silent:
			t.silent++
		case refused, found:
			t.meet(ballots, i)
			met = true
		}
	}
	t.unheard = t.silent + n.gone
	if !met {
		return t
	}
	t.reach = reach(ballots, nil)
	for i := range ballots {
		if ballots[i].vote == refused || ballots[i].vote == found {
			t.reach = max(t.reach, reach(ballots, &ballots[i]))
		}
	}
	return t
}

// reach is how many masters may have the token of one ballot, or, without
// one, a token that was met nowhere.
func reach(ballots []ballot, of *ballot) int {
	n := 0
	for i := range ballots {
		b := &ballots[i]
		met := b.vote == refused || b.vote == found
		if met && of != nil && b.same(of) || b.doubtful {
			n++
		}
	}
	return n
}

// meet counts how often the token of ballot i was met up to there.
func (t *tally) meet(ballots []ballot, i int) {
	b, n, sound := &ballots[i], 0, false
	for k := range ballots[:i+1] {
		other := &ballots[k]
		met := other.vote == refused || other.vote == found
		if met && other.same(b) {
			n++
			sound = sound || !other.doubtful
		}
	}
	if b.foreign {
		t.tokenless++
	}
	if n > t.mostCount {
		t.most, t.mostCount, t.sound = b.token, n, sound
	}
}

// met is how many masters hold some token.
func (t *tally) met(n int) int { return n - t.awaited - t.yes - t.absent - t.silent }

// itsWord reports whether the required master knows a token that no quorum knows.
// What a quorum knows against its word is a lost attempt, about to be undone
// (V11).
func (t *tally) itsWord() bool {
	knows := t.required == denies && t.its.vote != absent
	return knows && (t.mostCount < t.quorum || t.its.foreign || t.its.token != t.most)
}

// backed reports whether the required master, if there is one, has the token that was
// met most often.
func (t *tally) backed() bool {
	return t.required == none || t.required == denies && t.its.vote != absent && (t.its.foreign || t.its.token == t.most)
}

// lacks reports whether what a quorum still has is no lock any more, or not yet, since
// the required master, whose word counts, has nothing (V11).
func (t *tally) lacks() bool { return t.required == denies && t.its.vote == absent && !t.changing }

// holder is the token in the way: the required master's, else that of a
// quorum.
func (t *tally) holder() string {
	if t.itsWord() {
		return t.its.token
	}
	return t.most
}

// agreed reports whether those who must have agreed.
func (t *tally) agreed() bool {
	return t.yes >= t.quorum && (t.required == none || t.required == agrees)
}

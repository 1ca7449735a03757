package vote

import (
	"cmp"
	"time"
)

// Vote is one master's answer.
type Vote uint8

const (
	// Awaited: it may still come in time.
	Awaited Vote = iota
	// Unasked: not asked yet (V5); it counts as awaited until it is.
	Unasked
	// Created: the key was absent and is there now.
	Created
	// Prolonged: the key held the token and has the new expiry now; also one
	// that was stored over whatever was there.
	Prolonged
	// Longer: the key holds the token, and has a later expiry than it was to get,
	// which it keeps.
	Longer
	// Refused: the key holds a token that forbids the operation.
	Refused
	// Found: the key holds a token, and nothing was changed (Read).
	Found
	// Released: the key held the token, or anything for Remove, and is gone.
	Released
	// Absent: there is no such key.
	Absent
	// Silent: known not to come in time.
	Silent
)

// Ballot is a vote with what came along.
type Ballot struct {
	Vote Vote
	// Foreign is whether the key is no string (V14, WRONGTYPE).
	Foreign bool
	// Lost is whether the key is absent on a master whose vote is silent,
	// since it is in quarantine (M4) or joining the list (M8).
	Lost bool
	// Unsure is whether a silent master may still carry the operation out: its
	// answer will not come.
	Unsure bool
	// Doubtful is whether what was found is on a master in quarantine.
	Doubtful bool
	// Void is whether a silent master has answered, and that does not count.
	Void bool
	// Unsettled is whether the master's mark says that a change to our list is not
	// final (M8).
	Unsettled bool
	// Over is whether the TTL that was asked for is over (found, V15).
	Over bool
	// Token is the token in the way (refused) or found.
	Token string
	// Left is what remains of the hold (found).
	Left time.Duration
	// Expiry is when the master forgets it, in its own milliseconds (found; also
	// prolonged, if it has kept a later one than it was to get).
	Expiry int64
}

// same reports whether two masters hold the same token.
func (b *Ballot) same(other *Ballot) bool {
	return b.Token == other.Token && b.Foreign == other.Foreign
}

// Tally counts the ballots of one attempt.
type Tally struct {
	Quorum, least                 int
	Awaited, Yes, Absent, Silent  int
	created, Prolonged, Tokenless int
	// Most is the token that was met most often, MostCount how often.
	Most      string
	MostCount int
	// sound is whether a master has it that is not in quarantine.
	sound bool
	// reach is how many masters at most one token has: those where it was
	// met, and those in quarantine that hold another one, since they do not
	// tell what they held before.
	reach int
	// Required is the required master's word (V11), Its what it holds, if
	// there is such a master.
	Required word
	Its      *Ballot
	// changing is whether the list of masters changes (needs).
	changing bool
	// Unheard are the silent masters, and those that are not asked any more
	// (needs.gone): what they hold is not known.
	Unheard int
}

// Count tallies the ballots.
func Count(ballots []Ballot, n Needs) Tally {
	t := Tally{Quorum: n.Quorum, least: cmp.Or(n.Least, n.Quorum), changing: n.Changing, Required: n.WordOf(ballots)}
	if t.Required != None {
		t.Its = &ballots[n.Required]
	}
	met := false
	for i := range ballots {
		b := &ballots[i]
		met = met || b.Doubtful
		switch b.Vote {
		case Awaited, Unasked:
			t.Awaited++
		case Created:
			t.created++
			t.Yes++
		case Prolonged, Longer:
			t.Prolonged++
			t.Yes++
		case Released:
			t.Yes++
		case Absent:
			t.Absent++
		case Silent:
			t.Silent++
		case Refused, Found:
			t.meet(ballots, i)
			met = true
		}
	}
	t.Unheard = t.Silent + n.Gone
	if !met {
		return t
	}
	t.reach = reach(ballots, nil)
	for i := range ballots {
		if ballots[i].Vote == Refused || ballots[i].Vote == Found {
			t.reach = max(t.reach, reach(ballots, &ballots[i]))
		}
	}
	return t
}

// reach is how many masters may have the token of one ballot, or, without
// one, a token that was met nowhere.
func reach(ballots []Ballot, of *Ballot) int {
	n := 0
	for i := range ballots {
		b := &ballots[i]
		met := b.Vote == Refused || b.Vote == Found
		if met && of != nil && b.same(of) || b.Doubtful {
			n++
		}
	}
	return n
}

// meet counts how often the token of ballot i was met up to there.
func (t *Tally) meet(ballots []Ballot, i int) {
	b, n, sound := &ballots[i], 0, false
	for k := range ballots[:i+1] {
		other := &ballots[k]
		met := other.Vote == Refused || other.Vote == Found
		if met && other.same(b) {
			n++
			sound = sound || !other.Doubtful
		}
	}
	if b.Foreign {
		t.Tokenless++
	}
	if n > t.MostCount {
		t.Most, t.MostCount, t.sound = b.Token, n, sound
	}
}

// Met is how many masters hold some token.
func (t *Tally) Met(n int) int { return n - t.Awaited - t.Yes - t.Absent - t.Silent }

// ItsWord reports whether the required master knows a token that no quorum knows.
// What a quorum knows against its word is a lost attempt, about to be undone
// (V11).
func (t *Tally) ItsWord() bool {
	knows := t.Required == Denies && t.Its.Vote != Absent
	return knows && (t.MostCount < t.Quorum || t.Its.Foreign || t.Its.Token != t.Most)
}

// Backed reports whether the required master, if there is one, has the token that was
// met most often.
func (t *Tally) Backed() bool {
	return t.Required == None || t.Required == Denies && t.Its.Vote != Absent && (t.Its.Foreign || t.Its.Token == t.Most)
}

// lacks reports whether what a quorum still has is no lock any more, or not yet, since
// the required master, whose word counts, has nothing (V11).
func (t *Tally) lacks() bool { return t.Required == Denies && t.Its.Vote == Absent && !t.changing }

// Holder is the token in the way: the required master's, else that of a
// quorum.
func (t *Tally) Holder() string {
	if t.ItsWord() {
		return t.Its.Token
	}
	return t.Most
}

// agreed reports whether those who must have agreed.
func (t *Tally) agreed() bool {
	return t.Yes >= t.Quorum && (t.Required == None || t.Required == agrees)
}

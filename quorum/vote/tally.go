package vote

import (
	"cmp"
	"time"

	"github.com/redlockd/redlockd/quorum/tail"
)

// Vote is one master's answer.
type Vote uint8

const (
	// Awaited: the answer may still come in time.
	Awaited Vote = iota
	// Unasked: the master was not asked yet (V5); until it is, it counts as awaited.
	Unasked
	// Created: the key was absent and exists now.
	Created
	// Prolonged: the key held the token and has the new expiry now, or the token was
	// stored over whatever was there.
	Prolonged
	// Longer: the key holds the token and already had a later expiry than the requested
	// one, which it keeps.
	Longer
	// Refused: the key holds a token that forbids the operation.
	Refused
	// Found: the key holds a token, and nothing was changed (Read).
	Found
	// Released: the key held the token, or for Remove anything, and is deleted now.
	Released
	// Absent: there is no such key.
	Absent
	// Silent: the answer is known not to come in time.
	Silent
)

// Ballot is a vote with the details that came with it.
type Ballot struct {
	Vote Vote
	// Foreign reports whether the key is not a string (V14, WRONGTYPE).
	Foreign bool
	// AbsentVoid reports whether the key is absent on a master whose vote is silent
	// because it is in quarantine (M4) or joining the list (M8).
	AbsentVoid bool
	// MayAct reports whether a silent master may still carry the operation out, because
	// it has not answered.
	MayAct bool
	// Doubtful reports whether the token was found on a master in quarantine.
	Doubtful bool
	// Discounted reports whether a silent master did answer, but the answer does not count.
	Discounted bool
	// Unsettled reports whether the master's mark says that a change to our list is not
	// final (M8).
	Unsettled bool
	// Over reports whether the TTL that the client asked for is over (a copy that was met, V15).
	Over bool
	// Token is the token that refuses the operation (refused) or was found (found).
	Token string
	// Left is what remains of the client's TTL, Hold until the copy ends (found).
	Left, Hold time.Duration
	// Tail is that of the copy as it was met (found, prolonged, longer, released, refused),
	// Were those of the steps of a transaction (created), nil for any other.
	Tail tail.Tail
	Were *[]tail.Tail
}

// Met reports whether the master has told which token it holds.
func (b *Ballot) Met() bool { return b.Vote == Refused || b.Vote == Found }

// Extended reports whether the key held the token, and is the attempt's now.
func (b *Ballot) Extended() bool { return b.Vote == Prolonged || b.Vote == Longer }

// same reports whether two masters hold the same token.
func (b *Ballot) same(other *Ballot) bool {
	return b.Token == other.Token && b.Foreign == other.Foreign
}

// Tally counts the ballots of one attempt.
type Tally struct {
	Quorum, Least                int
	Awaited, Yes, Absent, Silent int
	Prolonged, Tokenless         int
	// Answered is the number of masters that have answered, and whose answers count.
	Answered int
	// Most is the token found on the most masters, MostCount the number of these.
	Most      string
	MostCount int
	most      *Ballot
	// Met is the number of masters where a token was found, whichever it is.
	Met int
	// Living is the number of masters with a copy of Most that is not over (V15).
	Living int
	// firm is the number of masters not in quarantine that hold Most. rival is the number
	// of those that any other token which was found may have at most: where it was found, and
	// in quarantine with another one, since these may have held it before they lost their
	// memory.
	firm, rival int
	// Doubtful is the number of masters in quarantine where a token was found.
	Doubtful int
	// Required is the required master's answer (V11), RequiredBallot is that master's
	// ballot; None and nil if there is no such master.
	Required       requiredAnswer
	RequiredBallot *Ballot
	// changing reports whether the list of masters is changing (Needs.Changing).
	changing bool
	// Unknown is the number of silent masters and of those that are being removed from
	// the list (Needs.LeavingCopies): what these hold is not known.
	Unknown int
}

// Count adds up the ballots.
func Count(ballots []Ballot, n Needs) Tally {
	t := Tally{Quorum: n.Quorum, Least: cmp.Or(n.Least, n.Quorum), changing: n.Changing, Required: n.AnswerOf(ballots)}
	if t.Required != None {
		t.RequiredBallot = &ballots[n.Required]
	}
	for i := range ballots {
		b := &ballots[i]
		switch b.Vote {
		case Awaited, Unasked:
			t.Awaited++
		case Prolonged, Longer:
			t.Prolonged++
			t.Yes++
		case Created, Released:
			t.Yes++
		case Absent:
			t.Absent++
		case Silent:
			t.Silent++
		case Refused, Found:
			t.Met++
			if b.Foreign {
				t.Tokenless++
			}
			if n := HowMany(ballots[:i+1], func(other *Ballot) bool { return other.Met() && other.same(b) }); n > t.MostCount {
				t.Most, t.MostCount, t.most = b.Token, n, b
			}
		}
	}
	t.Unknown, t.Answered = t.Silent+n.LeavingCopies, t.Yes+t.Absent+t.Met
	if t.Met == 0 {
		return t
	}
	t.Doubtful = MastersWith(ballots, nil)
	for i := range ballots {
		b := &ballots[i]
		switch {
		case !b.Met():
			continue
		case !b.same(t.most):
			t.rival = max(t.rival, MastersWith(ballots, b))
			continue
		case !b.Doubtful:
			t.firm++
		}
		if !b.Over {
			t.Living++
		}
	}
	return t
}

// contested reports whether another token than Most may have a quorum, the smaller of two
// while the list changes (M8): some copies of Most may be of an earlier time, since their
// masters are in quarantine, and another token was found, or may still be.
func (t *Tally) contested() bool {
	rival := t.rival
	if t.Awaited > 0 {
		rival = max(rival, t.Doubtful)
	}
	return t.firm < t.Quorum && rival > 0 && rival+t.Unknown+t.Awaited >= t.Least
}

// MastersWith returns how many masters may hold the token of the ballot of, or, if of is
// nil, a token that was found nowhere.
func MastersWith(ballots []Ballot, of *Ballot) int {
	return HowMany(ballots, func(b *Ballot) bool { return b.Met() && of != nil && b.same(of) || b.Doubtful })
}

// HowMany returns how many ballots satisfy which.
func HowMany(ballots []Ballot, which func(*Ballot) bool) (n int) {
	for i := range ballots {
		if which(&ballots[i]) {
			n++
		}
	}
	return n
}

// absent reports whether there is certainly no lock: so few masters hold any token, or may,
// that no quorum can. Different tokens are no absence: one of them may be about to be stored
// over another one (V10).
func (t *Tally) absent() bool { return t.Met+t.Unknown+t.Awaited < t.Least }

// Known reports whether Holder is what a read would tell: a token that a quorum has, and no
// other one can have, or that of the required master (V10, V11).
func (t *Tally) Known() bool {
	if t.RequiredHolds() {
		return !t.RequiredBallot.Foreign
	}
	return t.MostCount >= t.Quorum && t.Tokenless < t.Quorum && t.firm > 0 && !t.contested()
}

// RequiredHolds reports whether the required master holds a lock that no quorum holds. It
// counts: what a quorum holds against it is a lost attempt that is about to be rolled
// back (V11), or a lock of before, with the same token, that is over (V15).
func (t *Tally) RequiredHolds() bool {
	if t.Required != Denies || t.RequiredBallot.Vote == Absent {
		return false
	}
	its := t.RequiredBallot
	return t.MostCount < t.Quorum || its.Foreign || its.Token != t.Most || t.Living < t.Quorum && !its.Over && !t.changing
}

// Backed reports whether the required master, if there is one, holds the token that was
// found on the most masters.
func (t *Tally) Backed() bool {
	return t.Required == None || t.Required == Denies && t.RequiredBallot.Vote != Absent && (t.RequiredBallot.Foreign || t.RequiredBallot.Token == t.Most)
}

// Alone reports whether the required master carried out, alone or with others, what no quorum
// can have: only its word tells (V11).
func (t *Tally) Alone() bool { return t.Required == agrees && t.Yes+t.Unknown+t.Awaited < t.Least }

// overruled reports whether the token that a quorum still holds is no lock any more, or
// not yet, because the required master answered that it has no key (V11).
func (t *Tally) overruled() bool {
	return t.Required == Denies && t.RequiredBallot.Vote == Absent && !t.changing
}

// Holder returns the token that forbids the operation: the required master's, if it
// counts, otherwise that of a quorum.
func (t *Tally) Holder() string {
	if t.RequiredHolds() {
		return t.RequiredBallot.Token
	}
	return t.Most
}

// Agreed reports whether a quorum agreed, and the required master with it if there is
// one.
func (t *Tally) Agreed() bool {
	return t.Yes >= t.Quorum && (t.Required == None || t.Required == agrees)
}

package quorum

import (
	"slices"

	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// ballotBox has the ballots of one attempt: which masters were asked, and what each has
// answered. It knows neither the operation nor the masters. Not safe for concurrent
// use: the attempt's mutex is held for it.
type ballotBox struct {
	// needs is what the attempt requires of the masters; ballots are in their order.
	needs   vote.Needs
	ballots []vote.Ballot
	// first is the master that is asked alone before the others (V5), or -1.
	first int
	// sent are the masters to which the operation was sent, unsent those that could not be
	// asked, undone those to which its rollback was sent, as bits.
	sent, unsent, undone uint16
	// few is room for the ballots of the usual number of masters.
	few [fewMasters]vote.Ballot
}

const fewMasters = 5

// open sizes the box for this number of masters.
func (v *ballotBox) open(masters int, needs vote.Needs) {
	v.needs, v.first = needs, -1
	if masters <= fewMasters {
		v.ballots = v.few[:masters]
	} else {
		v.ballots = make([]vote.Ballot, masters)
	}
}

// wentOut reports whether the operation was sent to master i.
func (v *ballotBox) wentOut(i int) bool { return v.sent>>i&1 != 0 }

// mayAct reports whether some master may still carry the operation out.
func (v *ballotBox) mayAct() bool {
	return vote.HowMany(v.ballots, func(b *vote.Ballot) bool { return b.Vote == vote.Awaited || b.MayAct }) > 0
}

// tooFew reports whether so few masters have answered, and nothing else is known, that no verdict
// can be certain: it need not be worked out. With an even number of masters fewer than a quorum
// can show that there is no lock.
func (v *ballotBox) tooFew() bool {
	n := 0
	for i := range v.ballots {
		switch v.ballots[i].Vote {
		case vote.Awaited, vote.Unasked:
		case vote.Silent:
			return false
		default:
			n++
		}
	}
	return v.first < 0 && v.needs.Required < 0 && n < v.needs.Quorum && n <= len(v.ballots)-v.needs.Quorum
}

// mayHaveDone reports whether some master may have carried the operation out: it said so, or
// its answer is missing or does not count.
func (v *ballotBox) mayHaveDone() bool {
	for i := range v.ballots {
		if b := v.ballots[i].Vote; v.wentOut(i) && b != vote.Refused && b != vote.Absent {
			return true
		}
	}
	return false
}

// refusedFirst reports whether the master that was asked alone did not grant.
func (v *ballotBox) refusedFirst() bool {
	if v.first < 0 {
		return false
	}
	first := v.ballots[v.first].Vote
	return first == vote.Refused || first == vote.Silent || first == vote.Absent
}

// holder returns the token that a read after a probe has found, and whether the
// operation may be answered Held: the token is on a quorum and on the required master,
// or only on the required master with no other token anywhere (V5, V11).
func (v *ballotBox) holder(ours string) (string, bool) {
	t := vote.Count(v.ballots, v.needs)
	switch t.Required {
	case vote.None:
		return t.Most, true
	case vote.Denies:
		return t.Holder(), t.MostCount >= t.Quorum && t.RequiredBallot.Vote == vote.Found || v.needs.HeldBy(v.ballots, ours)
	default:
		return "", false
	}
}

// refusal returns the token that refused on the most masters, and these, as bits.
func (v *ballotBox) refusal() (string, uint32) {
	t := vote.Count(v.ballots, v.needs)
	var masters uint32
	for i, b := range v.ballots {
		if b.Met() && b.Token == t.Most {
			masters |= 1 << i
		}
	}
	return t.Most, masters
}

// heldWithSilent reports whether the token of refusal has a quorum if the silent
// masters hold it too. It must be on the required master as well (V11), and ours must
// not have a quorum, the smaller of two while the list changes (M8), if the silent and the awaited
// masters hold that, and those in quarantine did: otherwise the holder might be answered that
// another client has the lock.
func (v *ballotBox) heldWithSilent(ours string) bool {
	t := vote.Count(v.ballots, v.needs)
	if !t.Backed() || t.MostCount == 0 || t.MostCount+t.Silent < t.Quorum {
		return false
	}
	own := t.Prolonged + vote.MastersWith(v.ballots, &vote.Ballot{Token: ours})
	return t.Most == ours || own+t.Unknown+t.Awaited < t.Least
}

// mayLive reports whether the lock may live although fewer than a quorum of the answers
// show a living copy: masters that did not answer may have got a longer TTL by an
// extend, and a master in quarantine may show an earlier expiry than the copy it has
// lost (V10). While the list changes, the smaller of the two quorums may have prolonged
// it (M8).
func (v *ballotBox) mayLive(t *vote.Tally) bool {
	doubtful := vote.HowMany(v.ballots, func(b *vote.Ballot) bool {
		return b.Vote == vote.Found && b.Doubtful && (b.Token != t.Most || b.Over) // what it held before is not known
	})
	return t.Living > 0 && t.Living < t.Quorum && t.Living+doubtful+t.Unknown+t.Awaited >= t.Least
}

// severalLocks reports whether the copies that have a token are of several locks, so that only the
// answers that are awaited tell which of them a quorum has (S4).
func (v *ballotBox) severalLocks(token string) bool {
	of := func(b vote.Ballot) bool { return b.Vote == vote.Found && b.Token == token }
	first := slices.IndexFunc(v.ballots, of)
	return slices.ContainsFunc(v.ballots, func(b vote.Ballot) bool { return of(b) && b.Tail.Lock != v.ballots[first].Tail.Lock })
}

// prolonged returns how many copies of a lock were prolonged.
func (v *ballotBox) prolonged(lock tail.ID) int {
	return vote.HowMany(v.ballots, func(b *vote.Ballot) bool { return b.Extended() && b.Tail.Lock == lock })
}

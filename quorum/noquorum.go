package quorum

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// The reasons why no majority decided an operation, or why it was not begun. The code
// here looks at the votes and the masters, and fills in the texts of undecided.go.

// noQuorum returns the error for the client after a verdict of Undecided or Split: how many
// masters agreed, refused and were silent, and why (P4, M6).
func (a *attempt) noQuorum(v Verdict) error {
	box := a.votes()
	ballots, kind, split := box.ballots, a.op.Kind, v == Split
	n, q := len(ballots), a.masters.Quorum
	t := vote.Count(ballots, box.needs)
	if t.Agreed() {
		return tooLate(kind, a.times.known-a.times.began, a.call.q.cfg.Timeout)
	}
	var silent []int
	for i, b := range ballots {
		if b.Vote == vote.Silent || b.Vote == vote.Awaited || b.Vote == vote.Unasked {
			silent = append(silent, i)
		}
	}
	if t.Tokenless >= q {
		return errors.New("WRONGTYPE Operation against a key holding the wrong kind of value")
	}
	if err := lacking(a.call.db.Database, (&outbox.Task{Kind: kind}).Creates(), q); err != nil && !split {
		return err
	}
	if t.Required == vote.Mute {
		return undecided(noQuorumRequired, a.why(ballots, []int{a.masters.Required}))
	}
	text := fmt.Sprintf(noQuorumAnswered, t.Answered, n, q, t.Yes, t.Met)
	if t.Doubtful > 0 {
		text += fmt.Sprintf(", %d of them in quarantine", t.Doubtful)
	}
	if t.Absent > 0 {
		text += fmt.Sprintf(", %d without the key", t.Absent)
	}
	if len(silent) > 0 {
		text += fmt.Sprintf(", %d silent (%s)", len(silent), a.why(ballots, silent))
	}
	if split || kind == vote.Read && t.Met >= q && t.MostCount < q {
		text += "; split: no token has a majority"
	}
	if t.Alone() && !split {
		text += "; it is done at the required master, but no majority has the lock"
	}
	if t.Tokenless > 0 {
		text += "; a client keeps another type than a string there, on the master itself"
	}
	return &UndecidedError{text}
}

// tooLate is the error for an operation that was won, but so long after its first byte
// that it is not reported (V2).
func tooLate(kind vote.Kind, took, timeout time.Duration) error {
	then := "the lock is rolled back"
	switch kind {
	case vote.Extend:
		then = "the lock may have been extended"
	case vote.Transact:
		then = "the locks may have been changed"
	}
	return undecided(noQuorumLate, took.Round(time.Millisecond), timeout, then)
}

// lacking is the error while fewer than q masters may vote, or, with toVote false, can
// be reached (M6); nil if there are enough.
func lacking(d *cluster.Database, toVote bool, q int) error {
	n, can := d.Reachable(), "can be reached"
	if toVote {
		n, can = d.Voting(), "may vote"
	}
	if n >= q {
		return nil
	}
	if left := d.Silence(); toVote && left > 0 {
		return undecided(noQuorumStill, wholeSeconds(left))
	}
	masters := d.Status()
	var others []string
	for _, m := range masters {
		if m.State != mark.Voting {
			others = append(others, stateOf(m))
		}
	}
	if len(others) == 0 {
		others = append(others, "the others are being looked at")
	}
	text := fmt.Sprintf(noQuorumFew, n, len(d.List().Links), can, strings.Join(others, ", "))
	if wantsBootstrap(d, masters) {
		text += " (" + bootstrapHint + ")"
	}
	return &UndecidedError{text}
}

// wantsBootstrap reports whether the masters wait for as long as the longest lock, since they
// are new or none remembers what was granted. A bootstrap ends that (M6).
func wantsBootstrap(d *cluster.Database, masters []cluster.MasterStatus) bool {
	fresh := 0
	for _, m := range masters {
		if strings.HasSuffix(m.Reason, mark.WhyNobodyKnows) {
			return true
		}
		if m.State == mark.Fresh {
			fresh++
		}
	}
	return fresh >= d.List().Quorum && !d.Remembering()
}

func wholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// why states for some masters, given by index, why their votes are missing.
func (a *attempt) why(ballots []vote.Ballot, masters []int) string {
	parts := make([]string, len(masters))
	for k, i := range masters {
		l := a.masters.Links[i]
		if s := l.Describe(); s.State != mark.Voting {
			parts[k] = stateOf(s)
		} else {
			parts[k] = l.Name + " " + l.WhyMissing(&ballots[i], a.times.began, a.box.unsent>>i&1 == 0, a.mark)
		}
	}
	return strings.Join(parts, ", ")
}

// stateOf says why a master does not vote, and for how long.
func stateOf(m cluster.MasterStatus) string {
	text := m.Name + " " + string(m.State)
	if m.State == mark.Refused {
		text += " (" + m.Reason + ")"
	}
	if m.Wait > 0 && m.State != mark.Frozen {
		text += " waiting " + wholeSeconds(m.Wait).String()
	}
	return text
}

// cannotList returns why nothing can be listed: the masters' states if they explain it.
func cannotList(d *cluster.Database) error {
	return cmp.Or(lacking(d, true, d.List().Quorum), errNotListed)
}

// holdNotRecorded is the error for a lock with a greater hold than any before, while not
// all marks can be made to bear that hold (M3); nil if a quorum of the marks lets it be
// granted.
func holdNotRecorded(d *cluster.Database, hold, ttl time.Duration) error {
	above, silent := d.AboveGrantLimit(hold)
	if !above {
		return nil
	}
	switch {
	case len(silent) > 0:
		return undecided(noQuorumLonger, ttl, strings.Join(silent, ", "))
	case d.List().Changing():
		return undecided(noQuorumLonger, ttl, "the list of masters is being changed")
	default:
		return undecided(noQuorumLonger, ttl, "they are being told: try again")
	}
}

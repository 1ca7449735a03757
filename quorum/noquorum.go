package quorum

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/vote"
)

// noQuorum is what a client is told when no majority can tell: how many
// masters agreed, refused and were silent, and why (P4, M6).
func (a *attempt) noQuorum(v Verdict) error {
	a.mu.Lock()
	n, q := len(a.box.ballots), a.masters.Quorum
	t := vote.Count(a.box.ballots, a.box.needs)
	var unheard []int
	foreign, doubtful := false, 0
	for i, b := range a.box.ballots {
		foreign = foreign || b.Foreign
		if b.Doubtful {
			doubtful++
		}
		if b.Vote == vote.Silent || b.Vote == vote.Awaited || b.Vote == vote.Unasked {
			unheard = append(unheard, i)
		}
	}
	a.mu.Unlock()
	answered := n - len(unheard)
	if foreign && answered >= q && t.Tokenless >= q {
		return errors.New("WRONGTYPE Operation against a key holding the wrong kind of value")
	}
	if err := a.call.db.lacking((&outbox.Task{Kind: a.op.Kind}).Creates(), q); err != nil && v != Split {
		return err
	}
	if t.Required == vote.Mute {
		return a.withoutRequired()
	}
	text := fmt.Sprintf(noQuorumAnswered, answered, n, q, t.Yes, t.Met(n))
	if doubtful > 0 {
		text += fmt.Sprintf(", %d of them in quarantine", doubtful)
	}
	if t.Absent > 0 {
		text += fmt.Sprintf(", %d without the key", t.Absent)
	}
	if len(unheard) > 0 {
		text += fmt.Sprintf(", %d silent (%s)", len(unheard), a.why(unheard))
	}
	if v == Split {
		text += "; split: no token has a majority"
	}
	return &UndecidedError{text}
}

// withoutRequired is the refusal while the required master cannot be asked
// (V11).
func (a *attempt) withoutRequired() error {
	at := a.masters.Required
	text := a.why([]int{at})
	if wait := a.masters.links[at].describe().Wait; wait > 0 {
		text += ", waiting " + wholeSeconds(wait).String()
	}
	return undecided(noQuorumRequired, text)
}

// tooLate is the answer where the reply could not be written in time (V2).
func (a *attempt) tooLate() error {
	if a.op.Kind == Extend {
		return errLateExtend
	}
	return errLate
}

// lacking is the refusal while too few masters may vote, or for what needs no
// vote can be reached (M6); nil when they are enough.
func (d *database) lacking(toVote bool, q int) error {
	n, can := d.reachable(), "can be reached"
	if toVote {
		n, can = d.voting(), "may vote"
	}
	if n >= q {
		return nil
	}
	if left := d.silentFor(d.now()); toVote && left > 0 {
		return errStoodStill(left)
	}
	states := map[MasterState]int{}
	var wait time.Duration
	var refusal string
	hint := false
	for _, m := range d.status() {
		states[m.State]++
		if m.State == Refused {
			refusal = m.Name + " " + m.Reason
		}
		wait = max(wait, m.Wait)
		hint = hint || strings.HasSuffix(m.Reason, mark.WhyNobodyKnows)
	}
	var parts []string
	for _, s := range []MasterState{Fresh, Quarantine, Frozen, Down, Refused} {
		if states[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", states[s], s))
		}
	}
	if len(parts) > 0 && states[Refused] > 0 {
		parts[len(parts)-1] += " (" + refusal + ")"
	}
	if len(parts) == 0 {
		parts = append(parts, "the others are being looked at")
	}
	text := fmt.Sprintf(noQuorumFew, n, len(d.list().links), can, strings.Join(parts, ", "))
	if wait > 0 {
		text += fmt.Sprintf(", waiting %v", wholeSeconds(wait))
	}
	if hint || states[Fresh] >= q && !d.remembering() {
		text += " (run redlockd -bootstrap if no lock can be held)"
	}
	return &UndecidedError{text}
}

func wholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// why tells of some masters why their votes are missing.
func (a *attempt) why(masters []int) string {
	parts := make([]string, len(masters))
	for k, i := range masters {
		l := a.masters.links[i]
		said := string(l.describe().State)
		if said == string(Voting) {
			a.mu.Lock()
			b := a.box.ballots[i]
			a.mu.Unlock()
			said = l.unheard(&b, a.times.began)
		}
		parts[k] = l.name + " " + said
	}
	return strings.Join(parts, ", ")
}

// waitedTooLong is the answer to what has not had its turn in time (V2).
func (q *Quorum) waitedTooLong() error {
	return undecided(noQuorumTurn, q.cfg.stay())
}

// reasonOf shortens an error for people: the last part says it.
func reasonOf(err error) string {
	if err == nil {
		return "the connection ended"
	}
	text := outbox.OwnWords(err.Error())
	if len(text) > 200 {
		text = text[:200]
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r", " "), "\n", " ")
}

// cannotList says why nothing can be listed, where the masters' states tell.
func (d *database) cannotList(err error) error {
	if lacking := d.lacking(true, d.list().Quorum); lacking != nil {
		return lacking
	}
	return err
}

package quorum

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// masterList are the masters that operations on one database go to, as their
// links, and what an attempt needs of them. It is replaced as a whole when the
// list of masters changes (M8); an attempt ends with the list it began with.
type masterList struct {
	links []*link
	vote.Needs
	// name is what the marks call it, see listName.
	name string
	// newest is the latest state of this list that any mark was seen to bear
	// (M8), whether or not a majority does.
	newest atomic.Pointer[mark.Generation]
	// next is the latest change of this list that any mark was seen to announce:
	// both lists count.
	next atomic.Pointer[mark.Generation]
}

// Title is what the marks call the list.
func (m *masterList) Title() string { return m.name }

// Saw notes a state that a mark bears. Of all marks that a majority of the
// list bears at least one is of the state that a majority of the list before
// bears, so that one is noted before its votes, and those of the others,
// count.
func (m *masterList) Saw(g mark.Generation) {
	at := &m.newest
	switch {
	case g.Masters == m.name:
	case g.Phase == mark.Announced && g.Before == m.name:
		at = &m.next
	default:
		return
	}
	for {
		now := at.Load()
		if now != nil && !now.Less(g) || at.CompareAndSwap(now, &g) {
			return
		}
	}
}

// least is the smallest quorum that counts (M8), see needs.
func (m *masterList) least() int {
	if g := m.next.Load(); g != nil {
		return min(m.Quorum, majority(len(mark.Hashes(g.Masters))))
	}
	return m.Quorum
}

// joining reports whether a master does not vote yet, whatever its own mark says:
// that may be of an earlier change to the same list.
func (m *masterList) joining(name string) bool {
	g := m.newest.Load()
	return g != nil && g.Joining(name)
}

// withoutJoining takes back the votes of masters that turn out to join the
// list (M8): that may be known by what another master has answered only.
func (m *masterList) withoutJoining(votes *ballotBox) {
	g := m.newest.Load()
	if g == nil || g.Phase == mark.Final {
		return
	}
	for i, l := range m.links {
		if b := &votes.ballots[i]; b.Vote != vote.Awaited && b.Vote != vote.Unasked && g.Joining(l.name) {
			*b = vote.Ballot{Vote: vote.Silent, Lost: b.Lost || b.Vote == vote.Absent}
		}
	}
}

// gone is how many masters of the list before may hold a copy that none of
// this list stands for: those that leave, beyond those that join and are
// silent as long.
func (m *masterList) gone() int {
	g := m.newest.Load()
	if g == nil || g.Phase == mark.Final || g.Before == "" {
		return 0
	}
	return max(0, len(mark.Hashes(g.Before))-len(mark.Hashes(g.Masters)))
}

// changing reports whether the list changes, or locks of before it did may be held.
func (m *masterList) changing() bool {
	if m.next.Load() != nil {
		return true
	}
	g := m.newest.Load()
	return g != nil && g.Phase != mark.Final
}

// link is that of a master.
func (m *masterList) link(name string) *link {
	return m.links[slices.IndexFunc(m.links, func(l *link) bool { return l.name == name })]
}

// names are those of the masters.
func (m *masterList) names() []string {
	out := make([]string, len(m.links))
	for i, l := range m.links {
		out[i] = l.name
	}
	return out
}

// count is how many links are so.
func (m *masterList) count(which func(*link) bool) int {
	n := 0
	for _, l := range m.links {
		l.mu.Lock()
		if which(l) {
			n++
		}
		l.mu.Unlock()
	}
	return n
}

// ready reports whether locks can be taken with so many voting masters.
func (m *masterList) ready() bool {
	return m.count((*link).canVote) >= m.Quorum && m.requiredVotes()
}

// requiredVotes reports whether the required master may vote, if there is one
// (V11).
func (m *masterList) requiredVotes() bool {
	if m.Required < 0 {
		return true
	}
	l := m.links[m.Required]
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.canVote()
}

// firstToAsk is the master that is asked alone first after a split: the
// required one, else the voting one with the lowest run_id, or -1 (V5).
func (m *masterList) firstToAsk() int {
	if m.Required >= 0 {
		return m.Required
	}
	best, at := "", -1
	for i, l := range m.links {
		l.mu.Lock()
		id := cmp.Or(l.status.RunID, l.name)
		if l.canVote() && (at < 0 || id < best) {
			best, at = id, i
		}
		l.mu.Unlock()
	}
	return at
}

// listName names a list of masters, whatever their order: short hashes of
// their names, with "!" behind that of the required one.
func listName(masters []Master) string {
	names := make([]string, len(masters))
	for i := range masters {
		names[i] = mark.NameHash(masters[i].Name)
		if masters[i].Required {
			names[i] += "!"
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// needsOf is what the list of masters asks for.
func needsOf(masters []Master) vote.Needs {
	n := vote.Needs{Quorum: majority(len(masters)), Required: -1}
	for i := range masters {
		if masters[i].Required {
			n.Required = i
		}
	}
	return n
}

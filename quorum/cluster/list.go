package cluster

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// List is the masters that operations on one database go to, as their
// links, and what an attempt needs of them. It is replaced as a whole when the
// list of masters changes (M8); an attempt ends with the list it began with. Safe for
// concurrent use.
type List struct {
	// Links are one for each master, in the order of the configuration. Neither they
	// nor Needs change.
	Links []*Link
	vote.Needs
	// name is what the marks call it, see ListName.
	name string
	// newest is the latest state of this list that any mark was seen to bear
	// (M8), whether or not a majority does.
	newest atomic.Pointer[mark.Generation]
	// next is the latest change of this list that any mark was seen to announce:
	// both lists count.
	next atomic.Pointer[mark.Generation]
}

// Title is what the marks call the list.
func (m *List) Title() string { return m.name }

// Saw notes a state that a mark bears. Of all marks that a majority of the
// list bears at least one is of the state that a majority of the list before
// bears, so that one is noted before its votes, and those of the others,
// count.
func (m *List) Saw(g mark.Generation) {
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

// Least is the smallest quorum that counts while the list changes (M8): what an attempt
// puts into Needs.Least.
func (m *List) Least() int {
	if g := m.next.Load(); g != nil {
		return min(m.Quorum, vote.Majority(len(mark.Hashes(g.Masters))))
	}
	return m.Quorum
}

// joining reports whether a master does not vote yet, whatever its own mark says:
// that may be of an earlier change to the same list.
func (m *List) joining(name string) bool {
	g := m.newest.Load()
	return g != nil && g.Joining(name)
}

// WithoutJoining takes back the votes of masters that turn out to join the
// list (M8): that may be known by what another master has answered only. What one says
// is final is not beside another one that says it is not, since a majority may have come
// back with marks of before, by which the list before counts.
func (m *List) WithoutJoining(ballots []vote.Ballot) {
	g := m.newest.Load()
	if g == nil || g.Before == "" || g.Phase == mark.Final && settled(ballots) {
		return
	}
	for i, l := range m.Links {
		if b := &ballots[i]; b.Vote != vote.Awaited && b.Vote != vote.Unasked && !mark.OnList(g.Before, l.Name) {
			*b = vote.Ballot{Vote: vote.Silent, Lost: b.Lost || b.Vote == vote.Absent}
		}
	}
}

// settled reports whether all that have voted say that a change to the list is final.
func settled(ballots []vote.Ballot) bool {
	for i := range ballots {
		if b := &ballots[i]; b.Unsettled && b.Vote != vote.Silent {
			return false
		}
	}
	return true
}

// Gone is how many masters of the list before may hold a copy that none of
// this list stands for: those that leave, beyond those that join and are
// silent as long.
func (m *List) Gone() int {
	g := m.newest.Load()
	if g == nil || g.Phase == mark.Final || g.Before == "" {
		return 0
	}
	return max(0, len(mark.Hashes(g.Before))-len(mark.Hashes(g.Masters)))
}

// Changing reports whether the list changes, or locks of before it did may be held.
func (m *List) Changing() bool {
	if m.next.Load() != nil {
		return true
	}
	g := m.newest.Load()
	return g != nil && g.Phase != mark.Final
}

// link is that of a master, which must be on the list.
func (m *List) link(name string) *Link {
	return m.Links[slices.IndexFunc(m.Links, func(l *Link) bool { return l.Name == name })]
}

// names are those of the masters.
func (m *List) names() []string {
	out := make([]string, len(m.Links))
	for i, l := range m.Links {
		out[i] = l.Name
	}
	return out
}

// count is how many links which says yes to; it is called with the link's mutex held.
func (m *List) count(which func(*Link) bool) int {
	n := 0
	for _, l := range m.Links {
		l.mu.Lock()
		if which(l) {
			n++
		}
		l.mu.Unlock()
	}
	return n
}

// ready reports whether so many masters may vote that locks can be taken.
func (m *List) ready() bool {
	return m.count((*Link).canVote) >= m.Quorum && m.requiredVotes()
}

// requiredVotes reports whether the required master may vote, if there is one
// (V11).
func (m *List) requiredVotes() bool {
	if m.Required < 0 {
		return true
	}
	l := m.Links[m.Required]
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.canVote()
}

// FirstToAsk is the index of the master that is asked alone first after a split: the
// required one, else the voting one with the lowest run_id, or -1 (V5).
func (m *List) FirstToAsk() int {
	if m.Required >= 0 {
		return m.Required
	}
	best, at := "", -1
	for i, l := range m.Links {
		l.mu.Lock()
		id := cmp.Or(l.status.RunID, l.Name)
		if l.canVote() && (at < 0 || id < best) {
			best, at = id, i
		}
		l.mu.Unlock()
	}
	return at
}

// ListName names a list of masters, whatever their order: short hashes of
// their names, with "!" behind that of the required one.
func ListName(masters []Master) string {
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
	n := vote.Needs{Quorum: vote.Majority(len(masters)), Required: -1}
	for i := range masters {
		if masters[i].Required {
			n.Required = i
		}
	}
	return n
}

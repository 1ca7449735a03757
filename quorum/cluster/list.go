package cluster

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// List is the list of masters that operations on one database go to, as links, and what
// an attempt needs of them. When the list of masters changes, it is replaced as a whole
// (M8); an attempt ends with the list that it began with. Safe for concurrent use.
type List struct {
	// Links has one link for each master, in the order of the configuration. Neither
	// Links nor Needs change.
	Links []*Link
	vote.Needs
	// name is the list's name in the marks, see ListName.
	name string
	*seen
}

// seen is what marks were seen to record of a list. All databases share it.
type seen struct {
	// newest is the latest state of the list that any mark was seen to record (M8),
	// whether or not a majority does.
	newest atomic.Pointer[mark.Generation]
	// next is the latest change from the list that any mark was seen to announce. If it
	// is set, both lists count.
	next atomic.Pointer[mark.Generation]
}

// Title returns the list's name in the marks.
func (m *List) Title() string { return m.name }

// Saw notes a state that a mark records. Every majority of this list shares a master with
// every majority of the previous list. So among its marks is one with the state that a
// majority of the previous list records, and that state is noted before the votes of this
// majority count.
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
		// One that is seen again is stored again, so that forget keeps it.
		if now != nil && g.Less(*now) || at.CompareAndSwap(now, &g) {
			return
		}
	}
}

// settledAt returns the final state of this list that the marks of all its masters record,
// if they are real and in view.
func (m *List) settledAt() (mark.Generation, bool) {
	g := m.Links[0].recorded().Generation
	for _, l := range m.Links {
		if r := l.recorded(); !r.inView || !r.Real || r.Generation != g || r.under != g {
			return g, false
		}
	}
	return g, g.Phase == mark.Final && g.Masters == m.name
}

// forget drops what was seen beyond the state g, if no mark records it any more.
func (m *List) forget(g mark.Generation) {
	newest, next := m.newest.Load(), m.next.Load()
	if next == nil && (newest == nil || !g.Less(*newest)) {
		return
	}
	if has, ok := m.settledAt(); ok && has == g {
		m.newest.CompareAndSwap(newest, &g)
		m.next.CompareAndSwap(next, nil)
	}
}

// NeedsNow returns what an attempt needs by what is known of a change of the list now (M8).
// Beyond the joining masters, which are silent meanwhile, masters of the previous list may hold
// a copy and are not asked.
func (m *List) NeedsNow() vote.Needs {
	n := m.Needs
	n.Least, n.Changing = m.Quorum, m.Changing()
	if g := m.next.Load(); g != nil {
		n.Least = min(m.Quorum, majority(g.Masters))
	}
	if g := m.newest.Load(); g != nil && g.Phase != mark.Final && g.Before != "" {
		n.LeavingCopies = max(0, len(mark.Hashes(g.Before))-len(mark.Hashes(g.Masters)))
	}
	return n
}

// joining reports whether a master does not vote yet, by any mark: its own mark may be of
// an earlier change to the same list.
func (m *List) joining(name string) bool {
	g := m.newest.Load()
	return g != nil && g.Joining(name)
}

// WithoutJoining makes the votes of masters that join the list silent (M8). Only the
// answer of another master may have shown that they join. They still join, although one
// mark says that the change is final, if the mark of another master that voted says it is
// not: a majority may have come back with older marks, by which the previous list counts.
func (m *List) WithoutJoining(ballots []vote.Ballot) {
	g := m.newest.Load()
	if g == nil || g.Before == "" || g.Phase == mark.Final && settled(ballots) {
		return
	}
	for i, l := range m.Links {
		if b := &ballots[i]; b.Vote != vote.Awaited && b.Vote != vote.Unasked && !mark.OnList(g.Before, l.Name) {
			*b = vote.HealOnly.Of(*b, 0)
		}
	}
}

// Seats tells which servers have the masters' seats now.
func (m *List) Seats() *mark.Seats { return m.Links[0].db.agreed.Seats() }

// WithoutMoved makes the votes of masters silent whose seat another server has taken since
// the attempt began: the answer of another master may have shown that only after they had
// voted (M9). began are the seats of that time.
func (m *List) WithoutMoved(ballots []vote.Ballot, began *mark.Seats) {
	now := m.Seats()
	if now == began {
		return
	}
	for i, l := range m.Links {
		was := (*began)[l.hash].Server
		lost := was != "" && was != (*now)[l.hash].Server
		if b := &ballots[i]; lost && b.Vote != vote.Awaited && b.Vote != vote.Unasked {
			*b = vote.Void.Of(*b, 0)
			b.Discounted = true
		}
	}
}

// settled reports whether the marks of all masters that voted say that the change to the
// list is final.
func settled(ballots []vote.Ballot) bool {
	for i := range ballots {
		if b := &ballots[i]; b.Unsettled && b.Vote != vote.Silent {
			return false
		}
	}
	return true
}

// Changing reports whether the list changes, or locks from before its change may still be
// held.
func (m *List) Changing() bool {
	if m.next.Load() != nil {
		return true
	}
	g := m.newest.Load()
	return g != nil && g.Phase != mark.Final
}

// link returns the link to a master, which must be on the list.
func (m *List) link(name string) *Link {
	return m.Links[slices.IndexFunc(m.Links, func(l *Link) bool { return l.Name == name })]
}

// voters returns the names of the masters that do not join the list: every majority of
// them shares a master with every one that counts (M8).
func (m *List) voters() []string {
	var out []string
	for _, l := range m.Links {
		if !m.joining(l.Name) {
			out = append(out, l.Name)
		}
	}
	return out
}

// each calls do for each link, with the link's mutex held.
func (m *List) each(do func(*Link)) {
	for _, l := range m.Links {
		l.mu.Lock()
		do(l)
		l.mu.Unlock()
	}
}

// count returns how many links satisfy which, called with the link's mutex held.
func (m *List) count(which func(*Link) bool) (n int) {
	m.each(func(l *Link) {
		if which(l) {
			n++
		}
	})
	return n
}

// ready reports whether enough masters may vote for locks to be taken, the required one among
// them if there is one (V11).
func (m *List) ready() bool {
	required := m.Required < 0
	voting := m.count(func(l *Link) bool {
		can := l.canVote()
		required = required || can && l == m.Links[m.Required]
		return can
	})
	return required && voting >= m.Quorum
}

// FirstToAsk returns the index of the master that is asked alone first after a split: the
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

// ListName returns the name of a list of masters, whatever their order: short hashes of
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

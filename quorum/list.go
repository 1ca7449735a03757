package quorum

import (
	"cmp"
)

// masterList are the masters that operations on one database go to, as their
// lanes, and what an attempt needs of them. It is replaced as a whole when the
// list of masters changes (M8); an attempt ends with the list it began with.
type masterList struct {
	lanes []*lane
	needs
	// name is what the marks call it, see listName.
	name string
}

// count is how many lanes are so.
func (m *masterList) count(which func(*lane) bool) int {
	n := 0
	for _, l := range m.lanes {
		l.mu.Lock()
		if which(l) {
			n++
		}
		l.mu.Unlock()
	}
	return n
}

// ready is whether locks can be taken with so many voting masters.
func (m *masterList) ready() bool {
	return m.count((*lane).canVote) >= m.quorum && m.requiredVotes()
}

// requiredVotes is whether the required master may vote, if there is one
// (V11).
func (m *masterList) requiredVotes() bool {
	if m.required < 0 {
		return true
	}
	l := m.lanes[m.required]
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.canVote()
}

// firstToAsk is the master that is asked alone first after a split: the
// required one, else the voting one with the lowest run_id, or -1 (V5).
func (m *masterList) firstToAsk() int {
	if m.required >= 0 {
		return m.required
	}
	best, at := "", -1
	for i, l := range m.lanes {
		l.mu.Lock()
		id := cmp.Or(l.status.RunID, l.name)
		if l.canVote() && (at < 0 || id < best) {
			best, at = id, i
		}
		l.mu.Unlock()
	}
	return at
}

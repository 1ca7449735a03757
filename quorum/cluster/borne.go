package cluster

import (
	"slices"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// Which state of the list of masters the marks bear, as this redlockd has seen them (M8).

// seen are the states that the marks bear.
func (c *change) seen() []mark.Generation {
	var out []mark.Generation
	for _, l := range c.links() {
		if g, ok := l.generation(); ok {
			out = append(out, g)
		}
	}
	return out
}

// borne reports whether a state counts: a majority of the old list's marks bears
// it or a later one, or, when it is final, of the new list's. In force it is where
// those marks are real: what is pending under our own list may be pending under
// another redlockd's a moment later.
func (c *change) borne(g mark.Generation) bool { return c.countsBy(g, (*Link).generation) }

func (c *change) inForce(g mark.Generation) bool { return c.countsBy(g, (*Link).realGeneration) }

func (c *change) countsBy(g mark.Generation, of func(*Link) (mark.Generation, bool)) bool {
	bearers := func(list string) bool {
		n := 0
		for _, l := range c.links() {
			has, ok := of(l)
			if ok && mark.OnList(list, l.Name) && has.Number == g.Number && has.Masters == g.Masters && !has.Less(g) {
				n++
			}
		}
		return n >= vote.Majority(len(mark.Hashes(list)))
	}
	return bearers(g.Old()) || g.Phase == mark.Final && bearers(g.Masters)
}

// yields reports whether a mark of another list is left as it is, though ours does not
// count by it: ours is not in force, and the other one is in use, or is what this
// redlockd is to change to. Of two lists in use one yields.
func (c *change) yields(ours, other mark.Generation) bool {
	switch {
	case c.inForce(ours):
		return false
	case c.inUse(other.Masters) && !c.inUse(ours.Masters):
		return true
	case ListName(c.want()) == other.Masters:
		return true
	default:
		return c.inUse(other.Masters) && ours.Masters > other.Masters
	}
}

// interrupted reports whether a state is to be completed that too few marks bear: a
// majority has lost its marks in the middle of the change, and our list, which comes
// with it, was begun anew. All masters of our list bear real marks of it, as they were
// seen last, some by what was begun, and no majority of the one before can be had
// without them.
func (c *change) interrupted(g, ours mark.Generation) bool {
	both, anew := 0, false
	for _, l := range c.links() {
		has, ok := l.realGeneration()
		switch {
		case !mark.OnList(ours.Masters, l.Name):
		case !ok || has.Masters != ours.Masters:
			return false
		default:
			anew = anew || has == ours
			if mark.OnList(g.Old(), l.Name) {
				both++
			}
		}
	}
	old := len(mark.Hashes(g.Old()))
	return anew && both > old-vote.Majority(old)
}

// inUse reports whether any master bears a real mark of a list.
func (c *change) inUse(list string) bool {
	return slices.ContainsFunc(c.links(), func(l *Link) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.view.BearsForReal && l.view.Bears.Masters == list
	})
}

// foreign reports whether any master bears a real mark of a list that is neither
// ours nor one that ours has replaced.
func (c *change) foreign(list string, known mark.Generation) bool {
	return slices.ContainsFunc(c.links(), func(l *Link) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.view.BearsForReal && !l.view.Bears.Counts(list) && !l.view.Bears.Less(known)
	})
}

// joined reports whether the masters that join have a mark of this generation.
func (c *change) joined(state mark.Generation) bool {
	for _, l := range c.links() {
		has, ok := l.generation()
		if state.Joining(l.Name) && (!ok || has.Number != state.Number) {
			return false
		}
	}
	return true
}

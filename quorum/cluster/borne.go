package cluster

import (
	"slices"

	"github.com/redlockd/redlockd/quorum/clock"
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

// outlived reports whether a state is of a list that ours, which is in force as far as was
// looked at just now, has come after, or of another change of the list before ours. A
// master that bears it has missed so much that its mark is not raised any more.
func (c *change) outlived(ours, other mark.Generation) bool {
	before := other.Number < ours.Number || other.Phase == mark.Announced && other.Before == ours.Before
	return before && c.countsBy(ours, c.inView((*Link).realGeneration))
}

// closed reports whether the list before counts no more, as far as was looked at just now:
// what was known of that may have been lost since, with a majority's marks.
func (c *change) closed(g mark.Generation) bool {
	of := c.inView((*Link).generation)
	final := g
	g.Phase = mark.Closed
	return c.countsBy(g, of) || final.Phase == mark.Final && c.countsBy(final, of)
}

// inView is what a master's mark bears that was looked at just now.
func (c *change) inView(of func(*Link) (mark.Generation, bool)) func(*Link) (mark.Generation, bool) {
	since := c.all.now() - 2*clock.LookEvery
	return func(l *Link) (mark.Generation, bool) {
		g, ok := of(l)
		return g, ok && l.bearsSince(since)
	}
}

// displaced reports whether no majority of a list can be had without masters that bear
// real marks of another one, by which votes for that list do not count.
func (c *change) displaced(list, by string) bool {
	n := 0
	for _, l := range c.links() {
		has, ok := l.realGeneration()
		if ok && mark.OnList(list, l.Name) && has.Masters == by && !has.Counts(list) {
			n++
		}
	}
	on := len(mark.Hashes(list))
	return n > on-vote.Majority(on)
}

// interrupted reports whether a state is to be completed that too few marks bear: a
// majority has lost its marks in the middle of the change, and our list, which comes
// with it, was begun anew. All masters of our list bear real marks of it now, some by
// what was begun, and no majority of the one before can be had without them. One that is
// down may have been lost, and have been given to the list before by others. Of the change
// that our list came to by itself the next phase is left to step: it waits.
func (c *change) interrupted(g, ours mark.Generation) bool {
	both, anew := 0, false
	if g.Number == ours.Number {
		return false
	}
	since := c.all.now() - 2*clock.LookEvery
	for _, l := range c.links() {
		has, ok := l.realGeneration()
		switch {
		case !mark.OnList(ours.Masters, l.Name):
		case !ok || !l.bearsSince(since) || has.Masters != ours.Masters:
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

// unfinished reports whether a state is to be completed that too few marks in view bear:
// the newest of our list, which a majority of the list before may have borne, on masters
// that are not on ours or have lost it since. No lock is needed for that. A mark goes from
// one change that is announced to a later one, but not from one that is closed to another:
// of two that are written side by side at most one is closed by a majority. Where a
// majority of our list is none of the list before, so many bear it that no other change is
// announced any more. What is final lets those vote that join, and is left to who knows
// that it was closed; a master of our list that is not in view may bear that.
func (c *change) unfinished(g mark.Generation) bool {
	old := mark.Hashes(g.Old())
	bear, other := 0, 0
	since := c.all.now() - 2*clock.LookEvery
	for _, l := range c.links() {
		has, ok := l.generation()
		if mark.OnList(g.Masters, l.Name) && !l.bearsSince(since) {
			return false
		}
		switch {
		case !ok || !slices.Contains(old, l.hash):
		case has.Number == g.Number && has.Masters == g.Masters && !has.Less(g):
			bear++
		default:
			other++
		}
	}
	newest := c.all.Opened(0).List().newest.Load() // what the masters in view bear is in it now
	before, after := vote.Majority(len(old)), vote.Majority(len(mark.Hashes(g.Masters)))
	if newest == nil || *newest != g || g.Phase == mark.Final {
		return false
	}
	if after < before {
		return bear >= after
	}
	return len(old)-other >= before
}

// underWay reports whether any mark bears a change to the list in force that is not over.
func (c *change) underWay(state mark.Generation) bool {
	return slices.ContainsFunc(c.seen(), func(g mark.Generation) bool {
		return g.Masters == state.Masters && state.Less(g) && g.Phase != mark.Final
	})
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

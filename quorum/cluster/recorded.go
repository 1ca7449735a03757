package cluster

import (
	"slices"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// What the marks record of the list of masters, as this redlockd has seen them (M8).

// record is what a master's mark records of the list, as it was last seen.
type record struct {
	mark.Recorded
	// known reports whether it was ever seen, inView whether it was in the last two seconds.
	known, inView bool
	// speaks reports whether the mark is of the server that has the master's seat, or of any
	// if no server is known to have it: only that server votes (M9). While the mark is
	// pending, the others must record the seat, so that no other server votes meanwhile.
	speaks bool
	// under is what the mark records under which votes are asked, if there is one.
	under mark.Generation
}

// recorded returns what the master's mark records.
func (l *Link) recorded() record {
	l.mu.Lock()
	defer l.mu.Unlock()
	server, v := l.seated(), &l.view
	r := record{Recorded: v.Recorded, known: v.Recorded.Number > 0, under: v.Recorded.Generation}
	r.inView = r.known && l.now()-r.At < 2*clock.LookEvery
	r.speaks = server == "" || server == r.ID && (r.Real || v.Standing.RecordedSeat.Server == server)
	if v.Under != nil {
		r.under = v.Under.Generation
	}
	return r
}

// reaches reports whether the state, or a later phase of it, is recorded.
func (r *record) reaches(g mark.Generation) bool {
	return r.known && r.Number == g.Number && r.Masters == g.Masters && !r.Less(g)
}

// recordedStates returns the states of the list that the marks record.
func (c *change) recordedStates() []mark.Generation {
	var out []mark.Generation
	for _, l := range c.links() {
		if r := l.recorded(); r.known {
			out = append(out, r.Generation)
		}
	}
	return out
}

// recorded reports whether enough marks record a state or a later phase: a majority of the old
// list's, or, when it is final, of the new list's, without those of servers that lack their
// seats. inForce is the same for real marks only: a mark that is pending under our list may be
// pending under another instance's list a moment later.
func (c *change) recorded(g mark.Generation) bool {
	return c.recordedBy(g, func(r record) bool { return r.speaks })
}

func (c *change) inForce(g mark.Generation) bool {
	return c.recordedBy(g, func(r record) bool { return r.speaks && r.Real })
}

// recordedBy is recorded by those marks that satisfy which.
func (c *change) recordedBy(g mark.Generation, which func(record) bool) bool {
	recording := func(list string) bool {
		n := 0
		for _, l := range c.links() {
			if r := l.recorded(); r.reaches(g) && which(r) && mark.OnList(list, l.Name) {
				n++
			}
		}
		return n >= vote.Majority(len(mark.Hashes(list)))
	}
	return recording(g.Old()) || g.Phase == mark.Final && recording(g.Masters)
}

// yields reports whether a mark of another list, under which ours does not count, is left
// as it is: our list is not in force, and the other one is in use, or this redlockd is to
// change to it. If both lists are in use, the order of their names decides.
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

// displaced reports whether every majority of list includes a master whose real mark is
// of the list by, so that its votes for list do not count.
func (c *change) displaced(list, by string) bool {
	n := 0
	for _, l := range c.links() {
		if r := l.recorded(); r.Real && mark.OnList(list, l.Name) && r.Masters == by && !r.Counts(list) {
			n++
		}
	}
	on := len(mark.Hashes(list))
	return n > on-vote.Majority(on)
}

// overtaken reports whether the final state g of another list is in force where ours is
// not: all marks were lost, and other instances have begun with that list; or they have
// made the change on masters that this one does not reach, and no mark is newer.
func (c *change) overtaken(ours, g mark.Generation) bool {
	switch {
	case g.Phase != mark.Final || c.inForce(ours):
		return false
	case c.inForce(g):
		return true
	case !c.displaced(ours.Masters, g.Masters):
		return false
	}
	newer := func(has mark.Generation) bool { return g.Number > 1 && has.Number > g.Number }
	return !slices.ContainsFunc(c.recordedStates(), newer)
}

// interrupted reports whether the change to state g is to be completed although too few
// marks record it: a majority lost its marks in the middle of the change, and our list,
// which is the new one of g, was begun anew. All masters of our list now have real marks
// of it, some from the new beginning, and every majority of the old list includes one of
// them. All must be in view, since one that is down may have lost its mark and got one of
// the old list from another instance. A later phase of the change that our list is in
// anyway is left to step, which waits for it as long as it must.
func (c *change) interrupted(g, ours mark.Generation) bool {
	both, anew := 0, false
	if g.Number == ours.Number {
		return false
	}
	for _, l := range c.links() {
		r := l.recorded()
		switch {
		case !mark.OnList(ours.Masters, l.Name):
		case !r.Real || !r.inView || !r.speaks || r.Masters != ours.Masters:
			return false
		default:
			anew = anew || r.Generation == ours
			if mark.OnList(g.Old(), l.Name) {
				both++
			}
		}
	}
	old := len(mark.Hashes(g.Old()))
	return anew && both > old-vote.Majority(old)
}

// unfinished reports whether the change to state g is to be completed although too few
// marks in view record it. g is the newest state of our list, and a majority of the old
// list may have recorded it, on masters that are not on our list or have lost their marks
// since. Completing it needs no lock. A mark goes from one announced change to a later
// one, but not from one closed change to another, so of two changes that are written side
// by side a majority closes at most one. If a majority of our list is smaller than one of
// the old list, g must be on so many marks that no other change is announced any more
// (next). A final state is left to a redlockd that knows it was closed, because it lets
// joining masters vote; a master of our list that is not in view may record it.
func (c *change) unfinished(g mark.Generation) bool {
	old := mark.Hashes(g.Old())
	recording, other := 0, 0
	for _, l := range c.links() {
		r := l.recorded()
		if mark.OnList(g.Masters, l.Name) && !(r.inView && r.speaks) {
			return false
		}
		switch {
		case !r.known || !slices.Contains(old, l.hash):
		case r.reaches(g):
			if r.speaks {
				recording++
			}
		default:
			other++
		}
	}
	newest := c.all.Opened(0).List().newest.Load() // includes what every master in view records
	before, after := vote.Majority(len(old)), vote.Majority(len(mark.Hashes(g.Masters)))
	if newest == nil || *newest != g || g.Phase == mark.Final {
		return false
	}
	if after < before {
		return recording >= after
	}
	return len(old)-other >= before
}

// underWay reports whether any mark records a change to the list in force that is not
// final.
func (c *change) underWay(state mark.Generation) bool {
	return slices.ContainsFunc(c.recordedStates(), func(g mark.Generation) bool {
		return g.Masters == state.Masters && state.Less(g) && g.Phase != mark.Final
	})
}

// inUse reports whether any master has a real mark of a list.
func (c *change) inUse(list string) bool {
	return slices.ContainsFunc(c.links(), func(l *Link) bool {
		r := l.recorded()
		return r.Real && r.Masters == list
	})
}

// foreign reports whether any master has a real mark of a list that is neither ours nor
// one that ours has replaced.
func (c *change) foreign(list string, known mark.Generation) bool {
	return slices.ContainsFunc(c.links(), func(l *Link) bool {
		r := l.recorded()
		return r.Real && !r.Counts(list) && !r.Less(known)
	})
}

// joined reports whether all masters that join have a mark of this generation's number.
func (c *change) joined(state mark.Generation) bool {
	for _, l := range c.links() {
		if state.Joining(l.Name) && l.recorded().Number != state.Number {
			return false
		}
	}
	return true
}

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
	link *Link
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
	r := record{link: l, Recorded: v.Recorded, known: v.Recorded.Number > 0, under: v.Recorded.Generation}
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

// records are what all marks record.
type records []record

func (c *change) records() (all records) {
	for _, l := range c.links() {
		all = append(all, l.recorded())
	}
	return all
}

// on returns how many masters on a list have a record that satisfies which.
func (all records) on(list string, which func(record) bool) (n int) {
	hashes := mark.Hashes(list)
	for _, r := range all {
		if slices.Contains(hashes, r.link.hash) && which(r) {
			n++
		}
	}
	return n
}

// majority returns how many masters are a majority of a list, inEach how many there must be
// that every majority includes one of them.
func majority(list string) int { return vote.Majority(len(mark.Hashes(list))) }
func inEach(list string) int   { return len(mark.Hashes(list)) - majority(list) + 1 }

// recordedStates returns the states of the list that the marks record.
func (c *change) recordedStates() []mark.Generation {
	var out []mark.Generation
	for _, r := range c.records() {
		if r.known {
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
	all := c.records()
	recording := func(list string) bool {
		return all.on(list, func(r record) bool { return r.reaches(g) && which(r) }) >= majority(list)
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
	votesFor := func(r record) bool { return r.Real && r.Masters == by && !r.Counts(list) }
	return c.records().on(list, votesFor) >= inEach(list)
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
	all, old := c.records(), mark.Hashes(g.Old())
	without := all.on(ours.Masters, func(r record) bool { return !r.Real || !r.inView || !r.speaks || r.Masters != ours.Masters })
	anew := all.on(ours.Masters, func(r record) bool { return r.Generation == ours })
	both := all.on(ours.Masters, func(r record) bool { return slices.Contains(old, r.link.hash) })
	return g.Number != ours.Number && without == 0 && anew > 0 && both >= inEach(g.Old())
}

// unfinished reports whether the change to state g is to be completed although too few
// marks in view record it. g is of the newest change to our list, and a majority of the old
// list may have recorded it, on masters that are not on our list or have lost their marks
// since. Completing it needs no lock. A mark goes from one announced change to a later
// one, but not from one closed change to another, so of two changes that are written side
// by side a majority closes at most one. If a majority of our list is smaller than one of
// the old list, g must be on so many marks that no other change is announced any more
// (next). A final state is left to a redlockd that knows it was closed, because it lets
// joining masters vote. A final mark of the change proves no more than that, and the masters
// that join do not vote beside marks that are not final (WithoutJoining).
func (c *change) unfinished(g mark.Generation) bool {
	all, old := c.records(), g.Old()
	recording := all.on(old, func(r record) bool { return r.reaches(g) && r.speaks })
	other := all.on(old, func(r record) bool { return r.known && !r.reaches(g) })
	unseen := all.on(g.Masters, func(r record) bool { return !(r.inView && r.speaks) })
	newest := c.all.Opened(0).List().newest.Load() // includes what every master in view records
	switch {
	case newest == nil || newest.Number != g.Number || newest.Before != g.Before || g.Phase == mark.Final || unseen > 0:
		return false
	case majority(g.Masters) < majority(old):
		return recording >= majority(g.Masters)
	default:
		return other < inEach(old)
	}
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
	return slices.ContainsFunc(c.records(), func(r record) bool { return r.Real && r.Masters == list })
}

// foreign reports whether any master has a real mark of a list that is neither ours nor
// one that ours has replaced.
func (c *change) foreign(list string, known mark.Generation) bool {
	return slices.ContainsFunc(c.records(), func(r record) bool { return r.Real && !r.Counts(list) && !r.Less(known) })
}

// joined reports whether all masters that join have a mark of this generation's number.
func (c *change) joined(state mark.Generation) bool {
	return !slices.ContainsFunc(c.records(), func(r record) bool { return state.Joining(r.link.Name) && r.Number != state.Number })
}

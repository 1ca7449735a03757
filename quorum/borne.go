package quorum

import "slices"

// Which state of the list of masters the marks bear, as this redlockd has seen them (M8).

// seen are the states that the marks bear.
func (c *change) seen() []generation {
	var out []generation
	for _, l := range c.links() {
		if g, ok := l.generation(); ok {
			out = append(out, g)
		}
	}
	return out
}

// generation is what the master's mark bears, as far as it is known.
func (l *link) generation() (generation, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bears, l.bears.number > 0
}

// borne reports whether a state counts: a majority of the old list's marks bears
// it or a later one, or, when it is final, of the new list's. In force it is where
// those marks are real: what is pending under our own list may be pending under
// another redlockd's a moment later.
func (c *change) borne(g generation) bool { return c.countsBy(g, (*link).generation) }

func (c *change) inForce(g generation) bool { return c.countsBy(g, (*link).realGeneration) }

func (c *change) countsBy(g generation, mark func(*link) (generation, bool)) bool {
	bearers := func(list string) bool {
		n := 0
		for _, l := range c.links() {
			has, ok := mark(l)
			if ok && onList(list, l.name) && has.number == g.number && has.masters == g.masters && !has.less(g) {
				n++
			}
		}
		return n >= majority(len(hashes(list)))
	}
	return bearers(g.old()) || g.phase == final && bearers(g.masters)
}

// yields reports whether a mark of another list is left as it is, though ours does not
// count by it: ours is not in force, and the other one is in use, or is what this
// redlockd is to change to. Of two lists in use one yields.
func (c *change) yields(ours, other generation) bool {
	switch {
	case c.inForce(ours):
		return false
	case c.inUse(other.masters) && !c.inUse(ours.masters):
		return true
	case listName(c.want()) == other.masters:
		return true
	default:
		return c.inUse(other.masters) && ours.masters > other.masters
	}
}

// interrupted reports whether a state is to be completed that too few marks bear: a
// majority has lost its marks in the middle of the change, and our list, which comes
// with it, was begun anew. All marks of our list that are known are of that list,
// some by what was begun, and no majority of the one before can be had without them.
func (c *change) interrupted(g, ours generation) bool {
	both, anew := 0, false
	for _, l := range c.links() {
		has, ok := l.realGeneration()
		switch {
		case !onList(ours.masters, l.name):
		case !ok || has.masters != ours.masters:
			return false
		default:
			anew = anew || has == ours
			if onList(g.old(), l.name) {
				both++
			}
		}
	}
	old := len(hashes(g.old()))
	return anew && both > old-majority(old)
}

// realGeneration is the same where the mark is real.
func (l *link) realGeneration() (generation, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bears, l.bearsForReal && l.bears.number > 0
}

// inUse reports whether any master bears a real mark of a list.
func (c *change) inUse(list string) bool {
	return slices.ContainsFunc(c.links(), func(l *link) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.bearsForReal && l.bears.masters == list
	})
}

// foreign reports whether any master bears a real mark of a list that is neither
// ours nor one that ours has replaced.
func (c *change) foreign(list string, known generation) bool {
	return slices.ContainsFunc(c.links(), func(l *link) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.bearsForReal && !l.bears.counts(list) && !l.bears.less(known)
	})
}

// joined reports whether the masters that join have a mark of this generation.
func (c *change) joined(state generation) bool {
	for _, l := range c.links() {
		has, ok := l.generation()
		if state.joining(l.name) && (!ok || has.number != state.number) {
			return false
		}
	}
	return true
}

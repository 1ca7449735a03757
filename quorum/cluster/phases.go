package cluster

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// Which phase of a change of the list may be written (M8): what this redlockd remembers of
// the marks is no evidence, only what is in view.

// mayEnd reports whether a change may be written as final: marks looked at in the last two
// seconds say that it is, or every majority of the previous list includes a master whose
// mark has been closed for the whole hold. What was seen earlier is no evidence: a majority
// may have lost their marks since, and the previous list may be in force again. Another
// instance may have closed such a mark anew, hence its id.
func (c *change) mayEnd(final mark.Generation) bool {
	if c.recordedBy(final, func(r record) bool { return r.speaks && r.inView }) {
		return true
	}
	var closed []time.Duration
	for _, r := range c.records() {
		same := r.Phase != mark.Announced && r.Number == final.Number && r.Masters == final.Masters
		if same && r.speaks && r.inView && mark.OnList(final.Old(), r.link.Name) {
			closed = append(closed, r.ClosedAt)
		}
	}
	enough := inEach(final.Old())
	if len(closed) < enough {
		return false
	}
	slices.Sort(closed)
	since := closed[enough-1]
	return c.all.now()-since >= c.all.Database(0).holdSince(nil, since).wait
}

// mayWrite returns what may be written of the state to, which is being announced if isNew is
// set. If it may not be final yet, that is the closed state that this redlockd knows, or
// nothing if it remembers it as final. Nor is anything written that only this redlockd
// remembers: that the change was announced must be on a majority of the marks in view, or
// the change must still be one to complete. The marks of servers without their seats count
// for this: until the change is final, all majorities meet whatever the marks record.
func (c *change) mayWrite(to mark.Generation, isNew bool) mark.Generation {
	known, none := c.known(), mark.Generation{}
	switch {
	case isNew, to.Before == "":
		return to
	case to.Number != known.Number && (c.interrupted(to, known) || c.unfinished(to)):
		return to
	case to.Number != known.Number:
		return none
	}
	if to.Phase == mark.Final {
		switch {
		case c.mayEnd(to):
			return to
		case known.Phase == mark.Final:
			return none
		}
		to = known
	}
	announced := to
	announced.Phase = mark.Announced
	if c.recordedBy(announced, func(r record) bool { return r.inView }) || c.unfinished(to) {
		return to
	}
	return none
}

// outlived reports whether the master's mark records a state of the list that leads to no
// other, while its server has the seat: then it begins a quarantine. The state belongs to a list
// older than ours, or to an abandoned change of the list before ours, while marks looked at in
// the last two seconds show ours in force: the master has missed too many changes for its mark
// to be raised.
func (mon *monitor) outlived(own mark.Seat, s mark.Observation, ours mark.Generation) bool {
	if !hasSeat(own, s) || s.Mark.Counts(mon.db.List().name) {
		return false
	}
	other := s.Mark.Generation
	before := other.Number < ours.Number || other.Phase == mark.Announced && other.Before == ours.Before
	return before && mon.db.change.recordedBy(ours, func(r record) bool { return r.speaks && r.Real && r.inView })
}

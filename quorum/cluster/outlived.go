package cluster

import "github.com/redlockd/redlockd/quorum/mark"

// Marks with a state of the list that leads to no other: their masters begin a quarantine (M8).

// outlived reports whether the master's mark records a state of the list that leads to no
// other, while its server has the seat.
func (mon *monitor) outlived(own mark.Seat, s mark.Observation, known mark.Generation) bool {
	switch {
	case !mon.hasSeat(own, s):
		return false
	case !s.Mark.Counts(mon.db.List().name):
		return mon.db.change.outlived(known, s.Mark.Generation)
	default:
		return mon.zero != nil && mon.db.change.lostChange(known, s.Zero, s.Mark.Generation)
	}
}

// outlived reports whether the state other belongs to a list older than ours, or to an
// abandoned change of the list before ours, while marks looked at in the last two seconds
// show ours in force. A master whose mark records such a state has missed too many changes
// for its mark to be raised.
func (c *change) outlived(ours, other mark.Generation) bool {
	before := other.Number < ours.Number || other.Phase == mark.Announced && other.Before == ours.Before
	return before && c.isInForce(ours)
}

// lostChange reports whether the state other, which another database's mark records, is of a
// change to our list that database 0's marks have forgotten: all were lost, and begun anew
// with our list, zero on the same server. It is never completed, since database 0's marks
// decide.
func (c *change) lostChange(ours mark.Generation, zero *mark.Mark, other mark.Generation) bool {
	changing := other.Masters == ours.Masters && other.Phase != mark.Final && ours.Less(other)
	return changing && ours.Phase == mark.Final && zero.Real && zero.Generation == ours && c.isInForce(ours)
}

// isInForce is inForce by marks looked at in the last two seconds.
func (c *change) isInForce(g mark.Generation) bool {
	return c.recordedBy(g, func(r record) bool { return r.speaks && r.Real && r.inView })
}

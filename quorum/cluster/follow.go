package cluster

import (
	"errors"
	"slices"
	"strconv"

	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/scripts"
)

// A master has one mark, in database 0, and only the monitor of database 0 judges the master,
// writes the mark and watches the clock. A connection to another database reads that mark too,
// besides the seal of the database, which shows that it was not flushed (M3).

var errElsewhere = errors.New("its address leads to a different server than for database 0")

// sealed reports whether the database has the seal of a mark. Database 0 needs none.
func (l *Link) sealed(m *mark.Mark, seal string) bool {
	return l.zero == nil || seal == m.Seal(l.db.number)
}

// follow opens another database's link if database 0 goes by the mark that s shows, and closes
// it otherwise. It seals a database that is used for the first time under that mark; one that
// has lost its seal costs the master the mark.
func (mon *monitor) follow(c *connection, s mark.Observation) error {
	m, zero := s.Mark, mon.zero
	mon.mu.Lock()
	used := m != nil && mon.view.Memory.ID == m.ID // it was asked something under this mark
	zero.mu.Lock()
	zero.view.Memory.Saw(&mon.view.Memory)
	j := mark.Judgement{State: zero.status.State, Reason: zero.status.Reason, Left: zero.status.Wait}
	same := zero.goesBy(m) && m.RunID == c.runID && m.Counts(mon.db.List().name)
	earlier := m != nil && zero.view.Memory.NewerThan(m)
	elsewhere := zero.open && zero.conn.runID != c.runID
	zero.mu.Unlock()
	mon.mu.Unlock()
	used = used || same && slices.Contains(m.DBs, mon.db.number)
	switch {
	case elsewhere:
		return errElsewhere
	case earlier:
		return nil // it was on its way for longer, or the master has data of an earlier time (M4)
	case !same:
	case used && !mon.sealed(m, s.Seal):
		mon.lose(m)
		same = false
	case !used:
		done, err := mon.seal(c, &s)
		switch {
		case broken(err):
			return err
		case err != nil:
			same, j = false, mark.Judgement{State: mark.Refused, Reason: "its mark cannot be written: " + reasonOf(err)}
		case !done: // the mark was written meanwhile
			if s, err = mon.look(c); err != nil {
				return err
			}
			return mon.follow(c, s)
		}
	}
	if j.Open = same; !same && j.State == mark.Voting {
		j.State, j.Reason = mark.Quarantine, mark.WhyForgotten // as database 0 is about to find out
	}
	mon.mu.Lock()
	if same {
		mon.learn(s.Mark, s.Raw, s.Sent)
	}
	mon.status.Version, mon.status.RunID = s.Server.OwnVersion, s.Server.RunID
	mon.mu.Unlock()
	mon.enter(c, j)
	return nil
}

// lose notes that a mark, or the seal of one, was not there, and wakes the monitor of database 0,
// which begins a new mark also if it is back by then (SWAPDB). In database 0 the caller must hold
// mu.
func (l *Link) lose(m *mark.Mark) {
	first := l
	if l.zero != nil {
		first = l.zero
		first.mu.Lock()
		defer first.mu.Unlock()
	}
	first.view.Memory.Lost = m.ID
	first.wakeMonitor()
}

// seal enters the database in the mark that s shows, and seals it. It reports whether it did:
// not if another mark is there by now.
func (mon *monitor) seal(c *connection, s *mark.Observation) (bool, error) {
	db := mon.db.number
	m := s.Mark.With(func(m *mark.Mark) { m.DBs = append(m.DBs, db) })
	n, err := mon.eval(c, scripts.Seal, strconv.Itoa(db), s.Raw, m.String(), m.Seal(db)).AsInt64()
	if n == 1 {
		s.Mark, s.Raw = m, m.String()
	}
	return n == 1, err
}

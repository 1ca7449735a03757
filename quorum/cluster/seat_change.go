package cluster

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// takeSeat gives the seat to the server that was looked at, if the seat is free or the
// server that has it is not in use any more.
func (mon *monitor) takeSeat(s mark.Observation) {
	if s.Mark == nil || s.Mark.Name != mon.Name || s.Mark.RunID != s.Server.RunID {
		return
	}
	own, unchanged := mon.db.agreed.Of(mon.hash)
	mayTake := own.Epoch == 0 || !s.Mark.Real
	mon.mu.Lock()
	ended := mon.view.Memory.ID == own.Server && mon.view.Memory.RunID == s.Server.RunID // an earlier mark of this same server had the seat
	mon.mu.Unlock()
	if own.Server != s.Mark.ID && mayTake && (ended || mon.quiet(own, unchanged)) {
		mon.changeSeat(own, s.Mark.ID, s.Reading)
	}
}

// changeSeat gives the seat to a server and has it recorded in all marks. reading is the
// master's clock.
func (mon *monitor) changeSeat(own mark.Seat, server string, reading int64) {
	if !mon.db.agreed.Take(mon.hash, own, server, reading) {
		return
	}
	for _, other := range mon.db.change.links() {
		other.wakeMonitor()
	}
}

// replaced follows a new mark of this server that replaced the one that was seen. If the
// old mark had the seat, no instance can use it any more, so the new mark gets the seat
// at once.
func (mon *monitor) replaced(s mark.Observation, m mark.Memory, written *mark.Mark) {
	own, _ := mon.db.agreed.Of(mon.hash)
	ended, runID := m.ID, m.RunID
	if s.Mark != nil {
		ended, runID = s.Mark.ID, s.Mark.RunID
	}
	if own.Server == ended && ended != written.ID && runID == s.Server.RunID {
		mon.changeSeat(own, written.ID, s.Reading)
	}
}

// vacate takes the seat from a server that has forgotten locks, or may have as a replica, but
// whose mark cannot be written to record it: the other marks record it instead (M9).
func (mon *monitor) vacate(s mark.Observation, wanted *mark.Mark) {
	if s.Mark == nil || !s.Mark.Real || wanted.Real || s.Mark.RunID != s.Server.RunID {
		return
	}
	if own, _ := mon.db.agreed.Of(mon.hash); own.Server == s.Mark.ID {
		mon.changeSeat(own, mark.Vacant, s.Reading)
	}
}

// quiet reports whether the server that has the seat, if any, is not in use any more: no
// other mark has shown a newer beat of it for long enough, and enough of them have been
// looked at all that time. A redlockd that alone uses it raises its beat after seeing it
// unchanged for a second, records it in another mark at the next look but one, and this
// redlockd looks at that mark once a second.
func (mon *monitor) quiet(own mark.Seat, unchanged time.Duration) bool {
	wait := 5*clock.LookEvery + 4*mon.db.agreed.Greatest().Timeout
	if own.Epoch == 0 || own.Server == mark.Vacant {
		wait = 0
	}
	now := mon.now()
	return unchanged >= wait && mon.db.change.heldByMarks(mon.hash, func(other *Link) bool {
		s := &other.view.Standing
		return s.First != 0 && now-s.First >= wait && now-s.Last <= 2*clock.LookEvery
	})
}

// heldByMarks reports whether so many of the other masters satisfy which that every
// majority with this one includes one of them, for each list of masters that counts. Those
// that join count too, since a change may need this master's mark. which is called with the
// link's mutex held.
func (c *change) heldByMarks(name string, which func(*Link) bool) bool {
	state, links := c.known(), c.links()
	for _, list := range c.lists(state) {
		on := mark.Hashes(list)
		others, n := len(on), 0
		if slices.Contains(on, name) {
			others--
		}
		for _, l := range links {
			if l.hash == name || !slices.Contains(on, l.hash) {
				continue
			}
			l.mu.Lock()
			if which(l) {
				n++
			}
			l.mu.Unlock()
		}
		if n < min(others, inEach(list)) {
			return false
		}
	}
	return true
}

// forgotten returns the masters of whose seats the marks in view, other than this
// master's, may not tell the latest server: it was recorded in so many marks that those
// that are left need not include one.
func (mon *monitor) forgotten() []string {
	var out []string
	for name := range mon.seats() {
		if name != mon.hash && !mon.db.change.told(name, mon.hash) {
			out = append(out, name)
		}
	}
	return out
}

// told reports whether so many real marks, other than those of two masters, are in view
// that they include one that records the latest server in the first one's seat.
func (c *change) told(name, except string) bool {
	state, all := c.known(), c.records()
	for _, list := range c.lists(state) {
		n := all.on(list, func(r record) bool {
			return r.Real && r.inView && r.link.hash != name && r.link.hash != except && !state.Joining(r.link.Name)
		})
		if slices.Contains(mark.Hashes(list), name) && n < majority(list)-1 {
			return false
		}
	}
	return true
}

// lists returns the lists under which votes count: the one in force here, and until a change
// is final the other one, by which another instance may vote or a mark may speak (recorded).
func (c *change) lists(state mark.Generation) []string {
	out := []string{state.Masters}
	if state.Phase != mark.Final && state.Before != "" {
		out = append(out, state.Before)
	}
	for _, g := range c.recordedStates() {
		if g.Phase == mark.Announced && g.Before == state.Masters && !slices.Contains(out, g.Masters) {
			out = append(out, g.Masters)
		}
	}
	return out
}

// spread writes later seats to the master's mark.
func (mon *monitor) spread(c *connection, s mark.Observation) (mark.Observation, error) {
	all := mon.seats()
	if s.Mark == nil || s.Mark.Name != mon.Name || !s.Mark.Seats.Behind(all) {
		return s, nil
	}
	s, err := mon.raise(c, s, 0, func(m *mark.Mark) { m.Seats = m.Seats.Merged(all) })
	if err == nil {
		mon.noteObservation(s) // it may show a doubt that is new (M5)
	}
	return s, err
}

// seats returns the seats of the masters on the lists that count.
func (mon *monitor) seats() mark.Seats {
	lists := mon.db.change.lists(mon.db.change.known())
	return mon.db.agreed.All(func(name string) bool {
		return slices.ContainsFunc(lists, func(list string) bool { return slices.Contains(mark.Hashes(list), name) })
	})
}

// hasSeat reports whether the observed mark is that of the server that has the seat.
func hasSeat(own mark.Seat, s mark.Observation) bool { return s.Mark != nil && own.Server == s.Mark.ID }

// othersRecord reports whether so many other marks record own as this master's seat that
// every majority includes one of them. A positive result is remembered (rules). Only marks
// that were looked at in the last two seconds count: one may be lost before another is written.
func (mon *monitor) othersRecord(own mark.Seat) bool {
	mon.mu.Lock()
	known := mon.view.Standing.RecordedSeat.Same(own)
	mon.mu.Unlock()
	if known {
		return true
	}
	return mon.db.change.heldByMarks(mon.hash, func(other *Link) bool {
		st := &other.view.Standing
		return st.Seats[mon.hash].Same(own) && mon.now()-st.Last <= 2*clock.LookEvery
	})
}

package quorum

import (
	"slices"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// quietTime is how long nothing may have been heard of the server that has a
// seat before another one may take it. Whoever uses it alone from now on raises
// its beat when that was seen unchanged for a second, has it told in another mark
// at the next look but one, and that mark is looked at once a second.
func (mon *monitor) quietTime() time.Duration {
	return 5*clock.LookEvery + 4*mon.db.agreed.greatest().timeout
}

// takeSeat gives the seat to the server that is looked at, where nobody has it
// or the one that has it is not in use any more.
func (mon *monitor) takeSeat(s observation) {
	if mon.db.number != 0 || s.mark == nil || s.mark.name != mon.name || s.mark.runID != s.server.runID {
		return
	}
	own, unheard := mon.db.agreed.of(mon.hash)
	mayTake := own.epoch == 0 || !s.mark.real || !mon.cfg.RestartQuarantine
	mon.mu.Lock()
	ended := mon.view.memory.id == own.server && mon.view.memory.runID == s.server.runID // replaced, on the same server
	mon.mu.Unlock()
	if own.server != s.mark.id && mayTake && (ended || mon.quiet(own, unheard)) {
		mon.changeSeat(own, s.mark.id)
	}
}

// changeSeat makes a server the holder of the seat and has all marks told.
func (mon *monitor) changeSeat(own seat, holder string) {
	if !mon.db.agreed.take(mon.hash, own, holder) {
		return
	}
	for _, other := range mon.db.change.links() {
		other.wakeMonitor()
	}
}

// replaced follows a new mark of this server in the place of the one that was
// seen. If that one had the seat it has ended by this, so that nobody can use it
// any more, and the seat is the new one's at once.
func (mon *monitor) replaced(s observation, m memory, written *mark) {
	if mon.db.number != 0 {
		return
	}
	own, _ := mon.db.agreed.of(mon.hash)
	ended, runID := m.id, m.runID
	if s.mark != nil {
		ended, runID = s.mark.id, s.mark.runID
	}
	if own.server == ended && ended != written.id && runID == s.server.runID {
		mon.changeSeat(own, written.id)
	}
}

// vacate takes the seat from a server that has forgotten locks, and whose mark
// cannot be written to say so: the other marks say it (M9).
func (mon *monitor) vacate(s observation, wanted *mark) {
	if mon.db.number != 0 || s.mark == nil || !s.mark.real || wanted.real || s.mark.runID != s.server.runID {
		return
	}
	if own, _ := mon.db.agreed.of(mon.hash); own.server == s.mark.id {
		mon.changeSeat(own, vacant)
	}
}

// quiet reports whether the server that has the seat, if any, is not in use any
// more as far as the marks of the others tell, which must have been looked at
// for so long.
func (mon *monitor) quiet(own seat, unheard time.Duration) bool {
	wait := mon.quietTime()
	if own.epoch == 0 || own.server == vacant {
		wait = 0
	}
	now := mon.now()
	return unheard >= wait && mon.db.change.heldByMarks(mon.hash, func(other *link) bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		s := &other.view.standing
		return s.first != 0 && now-s.first >= wait && now-s.last <= 2*clock.LookEvery
	})
}

// inView reports whether so many of the other masters are being looked at that
// every majority with this one meets one of them.
func (mon *monitor) inView() bool {
	now := mon.now()
	return mon.db.change.heldByMarks(mon.hash, func(other *link) bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		return other.view.standing.last != 0 && now-other.view.standing.last <= 2*clock.LookEvery
	})
}

// bornes reports whether so many other marks bear the seat of this master.
func (mon *monitor) bornes(own seat) bool {
	if mon.view.standing.borne.same(own) {
		return true
	}
	borne := mon.db.change.heldByMarks(mon.hash, func(other *link) bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		return other.view.standing.bears[mon.hash].same(own)
	})
	if borne {
		mon.view.standing.borne = own
	}
	return borne
}

// heldByMarks reports whether so many of the other masters are as which says
// that every majority with this one meets one of them, by each list of masters
// that counts.
func (c *change) heldByMarks(name string, which func(*link) bool) bool {
	state, links := c.known(), c.links()
	for _, list := range c.lists(state) {
		on := hashes(list)
		others, n := len(on), 0
		if slices.Contains(on, name) {
			others--
		}
		for _, l := range links {
			if l.hash != name && slices.Contains(on, l.hash) && !state.joining(l.name) && which(l) {
				n++
			}
		}
		if n < min(others, len(on)-majority(len(on))+1) {
			return false
		}
	}
	return true
}

// lists are those under which votes count: that in force here, and while a
// change is announced the other one.
func (c *change) lists(state generation) []string {
	out := []string{state.masters}
	if state.phase == announced && state.before != "" {
		out = append(out, state.before)
	}
	for _, g := range c.seen() {
		if g.phase == announced && g.before == state.masters && !slices.Contains(out, g.masters) {
			out = append(out, g.masters)
		}
	}
	return out
}

// spread writes later holders of seats to the marks of all databases of the
// master at once.
func (mon *monitor) spread(c *connection, s observation) (observation, error) {
	all := mon.seats()
	if mon.db.number != 0 || s.mark == nil || s.mark.name != mon.name || !s.mark.seats.behind(all) {
		return s, nil
	}
	err := mon.asks(c, c.client.B().Eval().Script(seatsScript.text).Numkeys(1).Key(MarkKey).Arg(all.String()).Build())[0].Error()
	if broken(err) {
		return s, err
	}
	if err != nil {
		mon.log.Debug("a master answered an error", "code", reasonOf(err))
		return s, nil
	}
	return mon.look(c)
}

// seats are those of the masters on the lists that count.
func (mon *monitor) seats() seats {
	lists := mon.db.change.lists(mon.db.change.known())
	return mon.db.agreed.all(func(name string) bool {
		return slices.ContainsFunc(lists, func(list string) bool { return slices.Contains(hashes(list), name) })
	})
}

// see takes over what a look found, whether or not the master may vote; steady
// is whether its clock fitted to those before.
func (mon *monitor) see(s observation, steady bool) {
	if s.mark == nil || s.mark.name != mon.name || !s.mark.counts(mon.db.list().name) {
		return
	}
	warmUp := clock.WarmUpTime(mon.db.agreed.greatest().timeout)
	mon.mu.Lock()
	defer mon.mu.Unlock()
	mon.noteMark(s.mark, s.sent)
	since := mon.now() - warmUp - clock.LookEvery
	mon.view.doubts(s.mark, mon.clock.WatchedSince(since), steady)
}

// borneHere reports whether the other marks bear the seat as it is known here;
// for another database than 0, whether database 0's server holds the seat.
func (mon *monitor) borneHere(own seat, s observation) bool {
	if mon.zero == nil {
		return s.mark != nil && own.server == s.mark.id && mon.bornes(own)
	}
	return s.zero != nil && s.zero.id == own.server
}

package quorum

import (
	"slices"
	"time"
)

// standing is what a lane knows of its master's seat (M9). It is the keeper's;
// what others read needs the lane's mutex.
type standing struct {
	// server is the id of the mark in database 0 of the server that the lane is
	// connected to.
	server string
	// doubt is whether its clock is in doubt (M5).
	doubt bool
	// borne is the seat as the other marks were last found to bear it.
	borne seat
	// bears is what its own mark bears.
	bears seats
	// first is when this connection's first look at the mark went out, last when
	// the newest did; 0 while there is none.
	first, last time.Duration
	// returned is when a server that has restarted with its memory was seen
	// first, by its run_id. fresh is whether the one before had been looked at
	// right before it was lost.
	returned      time.Duration
	returnedRunID string
	fresh         bool
	// doubted is whether the mark that was seen last is in doubt, clears whether
	// we can tell that its clock did not step.
	doubted, clears bool
}

// quietTime is how long nothing may have been heard of the server that has a
// seat before another one may take it. Whoever uses it alone from now on raises
// its beat when that was seen unchanged for a second, has it told in another mark
// at the next look but one, and that mark is looked at once a second.
func (l *lane) quietTime() time.Duration {
	return 5*lookEvery + 4*l.db.agreed.greatest().timeout
}

// holdsSeat reports whether the server that the lane is connected to has the seat
// of this master. Needs mu.
func (l *lane) holdsSeat() bool {
	return l.standing.server != "" && (*l.db.agreed.holders.Load())[l.hash] == l.standing.server
}

// grants reports whether the master may be asked to create locks now: it votes,
// and its clock is not in doubt (M5). Needs mu.
func (l *lane) grants() bool {
	if !l.votes() || l.standing.doubt {
		return false
	}
	if l.zero == nil {
		return true
	}
	l.zero.mu.Lock()
	defer l.zero.mu.Unlock()
	return !l.zero.standing.doubt
}

// superseded reports whether another server has the seat of one that has voted.
// Needs mu.
func (l *lane) superseded() bool {
	holder := (*l.db.agreed.holders.Load())[l.hash]
	return l.under != nil && l.under.real && holder != "" && holder != l.standing.server
}

// heldByMarks reports whether so many of the other masters are as which says
// that every majority with this one meets one of them, by each list of masters
// that counts.
func (c *change) heldByMarks(name string, which func(*lane) bool) bool {
	state, lanes := c.known(), c.lanes()
	for _, list := range c.lists(state) {
		on := hashes(list)
		others, n := len(on), 0
		if slices.Contains(on, name) {
			others--
		}
		for _, l := range lanes {
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

// bornes reports whether so many other marks bear the seat of this master.
func (l *lane) bornes(own seat) bool {
	if l.standing.borne.same(own) {
		return true
	}
	borne := l.db.change.heldByMarks(l.hash, func(other *lane) bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		return other.standing.bears[l.hash].same(own)
	})
	if borne {
		l.standing.borne = own
	}
	return borne
}

// quiet reports whether the server that has the seat, if any, is not in use any
// more as far as the marks of the others tell, which must have been looked at
// for so long.
func (l *lane) quiet(own seat, unheard time.Duration) bool {
	wait := l.quietTime()
	if own.epoch == 0 || own.server == vacant {
		wait = 0
	}
	now := l.now()
	return unheard >= wait && l.db.change.heldByMarks(l.hash, func(other *lane) bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		s := &other.standing
		return s.first != 0 && now-s.first >= wait && now-s.last <= 2*lookEvery
	})
}

// heardOther reports whether a beat that was noted at a time is of another server
// than the one that the lane is connected to: that of one that was restarted may
// be told of for a second or two. Needs mu.
func (l *lane) heardOther(at time.Duration) bool {
	return l.standing.first != 0 && at > l.standing.first+2*lookEvery
}

// takeSeat gives the seat to the server that is looked at, where nobody has it
// or the one that has it is not in use any more.
func (l *lane) takeSeat(s sight) {
	if l.db.number != 0 || s.mark == nil || s.mark.name != l.name || s.mark.runID != s.server.runID {
		return
	}
	own, unheard := l.db.agreed.of(l.hash)
	mayTake := own.epoch == 0 || !s.mark.real || !l.cfg.RestartQuarantine
	l.mu.Lock()
	ended := l.memory.id == own.server && l.memory.runID == s.server.runID // replaced, on the same server
	l.mu.Unlock()
	if own.server != s.mark.id && mayTake && (ended || l.quiet(own, unheard)) {
		l.changeSeat(own, s.mark.id)
	}
}

// changeSeat makes a server the holder of the seat and has all marks told.
func (l *lane) changeSeat(own seat, server string) {
	if !l.db.agreed.take(l.hash, own, server) {
		return
	}
	for _, other := range l.db.change.lanes() {
		other.wakeKeeper()
	}
}

// replaced follows a new mark of this server in the place of the one that was
// seen. If that one had the seat it has ended by this, so that nobody can use it
// any more, and the seat is the new one's at once.
func (l *lane) replaced(s sight, m memory, written *mark) {
	if l.db.number != 0 {
		return
	}
	own, _ := l.db.agreed.of(l.hash)
	ended, runID := m.id, m.runID
	if s.mark != nil {
		ended, runID = s.mark.id, s.mark.runID
	}
	if own.server == ended && ended != written.id && runID == s.server.runID {
		l.changeSeat(own, written.id)
	}
}

// vacate takes the seat from a server that has forgotten locks, and whose mark
// cannot be written to say so: the other marks say it (M9).
func (l *lane) vacate(s sight, wanted *mark) {
	if l.db.number != 0 || s.mark == nil || !s.mark.real || wanted.real || s.mark.runID != s.server.runID {
		return
	}
	if own, _ := l.db.agreed.of(l.hash); own.server == s.mark.id {
		l.changeSeat(own, vacant)
	}
}

// spread writes later holders of seats to the marks of all databases of the
// master at once.
func (l *lane) spread(c *connection, s sight) (sight, error) {
	all := l.seats()
	if l.db.number != 0 || s.mark == nil || s.mark.name != l.name || !s.mark.seats.behind(all) {
		return s, nil
	}
	err := l.asks(c, c.client.B().Eval().Script(seatsScript.text).Numkeys(1).Key(MarkKey).Arg(all.String()).Build())[0].Error()
	if broken(err) {
		return s, err
	}
	if err != nil {
		l.log.Debug("a master answered an error", "code", reasonOf(err))
		return s, nil
	}
	return l.look(c)
}

// seats are those of the masters on the lists that count.
func (l *lane) seats() seats {
	lists := l.db.change.lists(l.db.change.known())
	return l.db.agreed.all(func(name string) bool {
		return slices.ContainsFunc(lists, func(list string) bool { return slices.Contains(hashes(list), name) })
	})
}

// consentWait is how long another redlockd takes at most to tell of a beat that
// it has seen: in another mark, or in that of the master itself.
func (l *lane) consentWait() time.Duration {
	return 2*lookEvery + 4*l.db.agreed.greatest().timeout + 10*lookPause
}

// exemption finds out whether a master that is back with its memory has lost
// none (M4): by the beats that the other masters bear, which must have been
// looked at long enough after it came back, or by one of our own from right
// before it was lost. Whoever knows of a later beat has it begin a quarantine.
func (l *lane) exemption(c *connection, s sight) exemption {
	if s.mark == nil || s.mark.runID == s.server.runID || !s.server.durable {
		return notExempt
	}
	if l.db.number != 0 {
		return s.exemptByZero()
	}
	st := &l.standing
	if st.returned == 0 || st.returnedRunID != s.server.runID {
		st.returned, st.returnedRunID = s.sent, s.server.runID
	}
	own, _ := l.db.agreed.of(l.hash)
	until := st.returned + l.consentWait()
	switch {
	case own.epoch == 0 || own.server != s.mark.id || s.mark.beat < own.beat || !l.syncsAlways(c):
		return notExempt
	case l.now() < until:
		return exemptAsked
	case st.fresh || l.db.change.heldByMarks(l.hash, func(other *lane) bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		return other.standing.last >= until-lookEvery
	}):
		return isExempt
	default:
		return exemptAsked
	}
}

// exemptByZero follows the mark of database 0, which is on the same disk.
func (s *sight) exemptByZero() exemption {
	switch {
	case s.zero == nil || !s.zero.real:
		return notExempt
	case s.zero.runID == s.server.runID:
		return isExempt
	default:
		return exemptAsked
	}
}

// newStanding begins anew what is known by one connection only. Needs mu.
func (l *lane) newStanding() {
	s := &l.standing
	s.first, s.last, s.server, s.returned = 0, 0, "", 0
}

// lostStanding notes how long before its loss the master was looked at. Needs
// mu.
func (l *lane) lostStanding() {
	limit := lookEvery + 2*l.cfg.Timeout + 10*lookPause
	l.standing.fresh = l.now()-l.markSent <= limit
	l.standing.first = 0
}

// noteMark takes over what a mark of this master says of all. Needs mu.
func (l *lane) noteMark(m *mark, sent time.Duration) {
	if key := (beatKey{m.id, m.beat}); l.memory.last != key {
		l.memory.last, l.memory.beatSeen = key, sent
	}
	l.db.agreed.saw(m)
	if m.db != 0 {
		return
	}
	l.standing.bears = m.seats
	l.standing.last = sent
	if l.standing.first == 0 {
		l.standing.first = sent
	}
	l.db.agreed.sawBeat(l.hash, m.id, m.beat)
	l.claimed = m.residueOf(l.db.name)
	if l.claimed > 0 {
		l.claimSeen = sent
	}
}

// see takes over what a look found, whether or not the master may vote; steady
// is whether its clock fitted to those before.
func (l *lane) see(s sight, steady bool) {
	if s.mark == nil || s.mark.name != l.name || !s.mark.counts(l.db.list().name) {
		return
	}
	settling := l.settlingTime()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteMark(s.mark, s.sent)
	// A doubt that is new was written since the look before, and the step, if
	// there was one, not long before that: who had a good line all that time can
	// tell, by this look.
	st := &l.standing
	if doubted := s.mark.doubt > 0; doubted != st.doubted {
		since := l.now() - settling - lookEvery
		st.clears = doubted && l.settled && l.drawn <= since
		st.doubted = doubted
	}
	l.memory.clears = st.clears && steady && l.memory.doubt == 0
}

// borneHere reports whether the other marks bear the seat as it is known here;
// for another database than 0, whether database 0's server holds the seat.
func (l *lane) borneHere(own seat, s sight) bool {
	if l.zero == nil {
		return s.mark != nil && own.server == s.mark.id && l.bornes(own)
	}
	return s.zero != nil && s.zero.id == own.server
}

// stand makes of a judgement what the lane knows of the seat. Needs mu.
func (l *lane) stand(s sight, j judgement) {
	st := &l.standing
	mk := s.mark
	if l.zero != nil {
		mk = s.zero
	}
	st.server, st.doubt = "", false
	if mk != nil && j.open {
		st.server, st.doubt = mk.id, mk.doubt > 0
	}
	if s.mark != nil && s.mark == j.write {
		l.memory.doubt = 0
	}
}

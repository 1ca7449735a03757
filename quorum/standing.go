package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// standing is what a link knows of its master's seat (M9). It is the monitor's;
// what others read needs the link's mutex.
type standing struct {
	// server is the id of the mark in database 0 of the server that the link is
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
	// remembers is whether its mark is real and has lost nothing, as far as it says.
	remembers bool
}

// holdsSeat reports whether the server that the link is connected to has the seat
// of this master. Needs mu.
func (l *link) holdsSeat() bool {
	return l.standing.server != "" && (*l.db.agreed.holders.Load())[l.hash] == l.standing.server
}

// grants reports whether the master may be asked to create locks now: it votes,
// and its clock is not in doubt (M5). Needs mu.
func (l *link) grants() bool {
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
func (l *link) superseded() bool {
	holder := (*l.db.agreed.holders.Load())[l.hash]
	return l.under != nil && l.under.real && holder != "" && holder != l.standing.server
}

// newStanding begins anew what is known by one connection only. Needs mu.
func (l *link) newStanding() {
	s := &l.standing
	s.first, s.last, s.server, s.returned, s.remembers = 0, 0, "", 0, false
}

// lostStanding notes how long before its loss the master was looked at. Needs
// mu.
func (l *link) lostStanding() {
	limit := clock.LookEvery + 2*l.cfg.Timeout + 10*clock.LookPause
	l.standing.fresh = l.now()-l.markSent <= limit
	l.standing.first = 0
}

// noteMark takes over what a mark of this master says of all. Needs mu.
func (l *link) noteMark(m *mark, sent time.Duration) {
	before := l.standing.last
	l.standing.last = sent
	if key := (beatKey{m.id, m.beat}); l.memory.last != key {
		l.memory.last, l.memory.beatSeen = key, sent
		if sent-before > 3*clock.LookEvery/2 {
			// It was not looked at for long: the beat is raised at once, so that what
			// is taken now is not on a disk with an earlier beat.
			l.memory.beatSeen = before
		}
	}
	l.db.agreed.saw(m)
	if m.db != 0 {
		return
	}
	l.standing.bears = m.seats
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
func (l *link) see(s observation, steady bool) {
	if s.mark == nil || s.mark.name != l.name || !s.mark.counts(l.db.list().name) {
		return
	}
	warmUp := l.warmUpTime()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteMark(s.mark, s.sent)
	// A doubt that is new was written since the look before, and the step, if
	// there was one, not long before that: who had a good baseline all that time can
	// tell, by this look.
	st := &l.standing
	if doubted := s.mark.doubt > 0; doubted != st.doubted {
		since := l.now() - warmUp - clock.LookEvery
		st.clears = doubted && l.clock.WatchedSince(since)
		st.doubted = doubted
	}
	l.memory.clears = st.clears && steady && l.memory.doubt == 0
}

// borneHere reports whether the other marks bear the seat as it is known here;
// for another database than 0, whether database 0's server holds the seat.
func (l *link) borneHere(own seat, s observation) bool {
	if l.zero == nil {
		return s.mark != nil && own.server == s.mark.id && l.bornes(own)
	}
	return s.zero != nil && s.zero.id == own.server
}

// stand makes of a judgement what the link knows of the seat. Needs mu.
func (l *link) stand(s observation, j judgement) {
	st := &l.standing
	mk := s.mark
	if l.zero != nil {
		mk = s.zero
	}
	st.server, st.doubt = "", false
	st.remembers = s.mark != nil && s.mark.real && (j.open || j.reason == whyAsked)
	if mk != nil && j.open {
		st.server, st.doubt = mk.id, mk.doubt > 0
	}
	if s.mark != nil && s.mark == j.write {
		l.memory.doubt = 0
	}
}

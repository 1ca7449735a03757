package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// grants reports whether the master may be asked to create locks now: it votes,
// and its clock is not in doubt (M5). Needs mu.
func (l *link) grants() bool {
	if !l.votes() || l.view.standing.doubt {
		return false
	}
	if l.zero == nil {
		return true
	}
	l.zero.mu.Lock()
	defer l.zero.mu.Unlock()
	return !l.zero.view.standing.doubt
}

// borneHere reports whether the other marks bear the seat as it is known here;
// for another database than 0, whether database 0's server holds the seat.
func (mon *monitor) borneHere(own seat, s observation) bool {
	if mon.zero == nil {
		return s.mark != nil && own.server == s.mark.id && mon.bornes(own)
	}
	return s.zero != nil && s.zero.id == own.server
}

// holdsSeat reports whether the server that the link is connected to has the seat
// of this master. Needs mu.
func (l *link) holdsSeat() bool { return l.view.holds(l.holder()) }

// holder is the server that has the seat of this master.
func (l *link) holder() string { return (*l.db.agreed.holders.Load())[l.hash] }

// noteMark takes over what a mark of this master says of all. Needs mu.
func (l *link) noteMark(m *mark, sent time.Duration) {
	l.view.note(m, sent, l.db.name)
	l.db.agreed.saw(m)
	if m.db == 0 {
		l.db.agreed.sawBeat(l.hash, m.id, m.beat)
	}
}

// see takes over what a look found, whether or not the master may vote; steady
// is whether its clock fitted to those before.
func (mon *monitor) see(s observation, steady bool) {
	if s.mark == nil || s.mark.name != mon.name || !s.mark.counts(mon.db.list().name) {
		return
	}
	warmUp := mon.warmUpTime()
	mon.mu.Lock()
	defer mon.mu.Unlock()
	mon.noteMark(s.mark, s.sent)
	since := mon.now() - warmUp - clock.LookEvery
	mon.view.doubts(s.mark, mon.clock.WatchedSince(since), steady)
}

package cluster

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/outbox"
)

// What a master may be asked follows from its mark, its seat and its clock together, so
// all of them are read under the link's mutex. What the mark says is in the link's view
// (mark.View).

// grants reports whether the master may be asked to create locks now: it votes, and its
// clock is not in doubt (M5). The caller must hold mu.
func (l *Link) grants() bool {
	return l.votes() && !l.doubtful()
}

// byMark reports whether what a master may be asked satisfies which, called for the link to
// database 0 with its mutex held: only there is the mark judged. Another database has to be
// asked under the same mark, so that both links lead to one server. The caller must hold mu.
func (l *Link) byMark(which func(*Link) bool) bool {
	if l.zero == nil || l.Embedded {
		return which(l)
	}
	l.zero.mu.Lock()
	defer l.zero.mu.Unlock()
	return l.zero.goesBy(l.view.Under) && which(l.zero)
}

// goesBy reports whether the master may be asked something under a mark that was read in
// another database: it was looked at lately, and has that mark. The caller must hold mu.
func (l *Link) goesBy(m *mark.Mark) bool {
	under := l.view.Under
	return l.open && l.now()-l.view.Sent <= clock.LookAge && m != nil && under != nil && m.ID == under.ID && m.Name == under.Name
}

// mayHaveStepped reports whether this redlockd cannot tell whether the clocks of a
// majority stepped together, which ended the copies of locks that their holders still
// have (M5). The caller must hold mu.
func (l *Link) mayHaveStepped(now time.Duration) bool {
	return l.doubtful() || l.db.silentFor(now) > 0
}

// doubtful reports whether the master's clock is in doubt (M5). The caller must hold mu.
func (l *Link) doubtful() bool {
	return !l.byMark(func(first *Link) bool { return !first.view.Standing.Doubt })
}

// holdsSeat reports whether the server that the link is connected to has this master's
// seat. The caller must hold mu.
func (l *Link) holdsSeat() bool { return l.view.Holds(l.db.agreed.Seat(l.hash)) }

// seated returns the server that has this master's seat.
func (l *Link) seated() string { return l.db.agreed.Seat(l.hash).Server }

// noteMark takes over what this master's mark records of all masters. The caller must
// hold mu.
func (l *Link) noteMark(m *mark.Mark, sent time.Duration) {
	l.view.Note(m, sent)
	l.db.agreed.Saw(m)
	l.db.agreed.SawBeat(l.hash, m.ID, m.Beat)
}

// canVote reports whether the master may be asked to create locks now, and can answer.
// The caller must hold mu.
func (l *Link) canVote() bool { return l.open && l.grants() && !l.frozen(l.now()) }

// votes reports whether the master has forgotten nothing and has its seat, so that its
// "absent" counts (M4, M5, M9). The caller must hold mu.
func (l *Link) votes() bool {
	return l.Embedded || l.clock.Warm() && l.view.Real() && !l.joins(l.view.Under) &&
		l.byMark(func(first *Link) bool { return first.view.Real() && first.holdsSeat() })
}

// joins reports whether the master, with this mark, joins the list and does not vote yet
// (M8).
func (l *Link) joins(m *mark.Mark) bool { return m.Joining(l.Name) || l.db.List().joining(l.Name) }

// shows returns the earliest and the latest possible reading of the master's clock now (V6).
// It returns false if the clock is not known, or if the master may not be asked to keep a
// lock for hold. The caller must hold mu.
func (l *Link) shows(hold, now time.Duration) (earliest, latest int64, ok bool) {
	if hold > 0 && !l.byMark(func(first *Link) bool { return first.asks(hold, now) }) {
		return 0, 0, false
	}
	return l.clock.Shows(now)
}

// asks reports whether the mark lets the master keep a lock for hold, and notes that it is
// asked to. Otherwise a real mark is to be raised. The caller must hold mu.
func (l *Link) asks(hold, now time.Duration) bool {
	allowed := l.view.Under == nil || allowsHold(l.view.Under, hold)
	switch {
	case !l.view.Real():
	case allowed:
		l.view.Memory.Grant(hold, now)
	default:
		l.want(hold)
	}
	return allowed
}

// holdRecorded reports whether the mark records a hold. If not, waitFor reports whether
// the monitor was asked to write it and can do so at once.
func (l *Link) holdRecorded(hold time.Duration) (recorded, waitFor bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Embedded || l.view.Real() && allowsHold(l.view.Under, hold) {
		return true, false
	}
	if waitFor = l.open && l.votes() && !l.frozen(l.now()); waitFor {
		l.want(hold)
	}
	return false, waitFor
}

// want asks the monitor to raise the mark to a hold. The caller must hold mu.
func (l *Link) want(hold time.Duration) {
	l.view.Memory.Wanted = max(l.view.Memory.Wanted, hold)
	l.wakeMonitor()
}

// remembers reports whether the master was looked at after since, and knows what was
// granted before. One that joins the list does not: it has no record of what was granted
// under the previous list (M8). The caller must hold mu.
func (l *Link) remembers(since time.Duration) bool {
	m := l.view.Under
	return m != nil && m.Real && l.holdsSeat() && l.open && l.view.Sent > since && !l.joins(m)
}

// allowsHold reports whether a mark lets its master keep a lock for hold.
func allowsHold(m *mark.Mark, hold time.Duration) bool {
	return m.Greatest >= hold && max(m.Floor, m.GrantLimit) >= hold
}

// learn takes over a mark that was read by a look or a batch sent at sent. The caller
// must hold mu.
func (l *Link) learn(m *mark.Mark, raw string, sent time.Duration) {
	if raised := &l.db.first().raised; !allowsHold(m, time.Duration(raised.Load())) {
		// Not all marks let that hold be granted any more: one was lost (M3).
		raised.Store(0)
	}
	l.view.Learn(m, raw, sent, l.now())
	l.db.List().Saw(m.Generation)
	l.noteMark(m, sent)
}

// counts reports whether a vote under a mark counts for a list that is not in force any more,
// because the attempt began before the list was replaced (M8).
func counts(under *mark.Mark, list outbox.List) bool {
	if under == nil {
		return true
	}
	list.Saw(under.Generation)
	return under.Counts(list.Title())
}

// LookedAt reports whether the link is open, and when the newest look at its mark went
// out, by our clock.
func (l *Link) LookedAt() (open bool, sent time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.view.Sent
}

// unsettled reports whether a mark says that a change to our list is not final (M8).
func (l *Link) unsettled(under *mark.Mark) bool {
	return under != nil && under.Phase != mark.Final && under.Masters == l.db.List().name
}

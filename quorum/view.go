package quorum

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// view is what one master's marks say as a link has seen them: the mark that votes
// are asked under, what is remembered of earlier ones, and its seat. It is told what
// it needs of other masters, so it can be tested without any. Not safe for concurrent
// use: which mark a vote was asked under and whether it counts go together (M3), so
// the link's mutex is held for it.
type view struct {
	// under is the mark that votes are asked under, raw as it stands there;
	// nil for embedded masters.
	under *mark
	raw   string
	// bears is the state of the list of masters that was last seen in its
	// mark, whether or not that lets it vote (M8), bearsForReal whether that
	// was a real one.
	bears        generation
	bearsForReal bool
	// sent is when the newest look at the mark went out, pending since
	// when the mark is known to be pending; 0 when it is not (M4).
	sent    time.Duration
	pending time.Duration
	// boreSince is since when under is known to bear what it does.
	boreSince time.Duration
	memory    memory
	standing  standing
	// claimed is the residue by which attempts are named, claimSeen when the
	// newest look went out that found it claimed (V6); database 0's counts.
	claimed   int
	claimSeen time.Duration
}

// standing is what is known of the master's seat (M9). It changes when the monitor looks.
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

// real reports whether the master bears a real mark.
func (v *view) real() bool { return v.under != nil && v.under.real }

// holds reports whether the server that the link is connected to is the holder of the
// master's seat.
func (v *view) holds(holder string) bool {
	return v.standing.server != "" && holder == v.standing.server
}

// superseded reports whether another server has the seat of one that has voted.
func (v *view) superseded(holder string) bool {
	return v.real() && holder != "" && holder != v.standing.server
}

// bearsFor reports whether the master's mark bears a hold of so many milliseconds.
func (v *view) bearsFor(ms int64) bool {
	return v.under == nil || ms <= v.under.greatest.Milliseconds()
}

// another reports whether the master bears another mark than the one with this id.
func (v *view) another(id string) bool { return v.under != nil && v.under.id != id }

// claim returns by what this redlockd names its attempts on the master at a time (V6);
// false while it has no claim that it can trust.
func (v *view) claim(now time.Duration) (int64, bool) {
	return int64(v.claimed), v.claimed > 0 && now-v.claimSeen <= claimTrust
}

// connected begins anew what is known by one connection only.
func (v *view) connected() {
	s := &v.standing
	s.first, s.last, s.server, s.returned, s.remembers = 0, 0, "", 0, false
}

// lost notes how long before its loss the master was looked at.
func (v *view) lost(now, timeout time.Duration) {
	limit := clock.LookEvery + 2*timeout + 10*clock.LookPause
	v.standing.fresh = now-v.sent <= limit
	v.standing.first = 0
}

// returned notes when the server came back, and returns until when others may
// still tell of what it lost, and whether it had been looked at right before it
// was lost.
func (v *view) returned(s observation, wait time.Duration) (until time.Duration, fresh bool) {
	st := &v.standing
	if st.returned == 0 || st.returnedRunID != s.server.runID {
		st.returned, st.returnedRunID = s.sent, s.server.runID
	}
	return st.returned + wait, st.fresh
}

// heardOther reports whether a beat that was noted at a time is of another server
// than the one that the link is connected to: that of one that was restarted may
// be told of for a second or two.
func (v *view) heardOther(at time.Duration) bool {
	return v.standing.first != 0 && at > v.standing.first+2*clock.LookEvery
}

// learn takes a mark over that was looked at by what went out at sent.
func (v *view) learn(m *mark, raw string, sent, now time.Duration) {
	if v.under == nil || v.under.id != m.id || v.under.greatest != m.greatest {
		v.boreSince = now
	}
	v.under, v.raw, v.sent, v.bears, v.bearsForReal = m, raw, sent, m.generation, m.real
	switch {
	case m.real:
		v.memory.sawReal, v.memory.id, v.memory.runID, v.memory.beat = true, m.id, m.runID, m.beat
		v.pending = 0
	case v.pending == 0:
		v.pending = now
	}
}

// note takes over from a mark when its beat was raised, and from one of database 0
// what it bears for all and what it lets this redlockd claim.
func (v *view) note(m *mark, sent time.Duration, redlockd string) {
	before := v.standing.last
	v.standing.last = sent
	if key := (beatKey{m.id, m.beat}); v.memory.last != key {
		v.memory.last, v.memory.beatSeen = key, sent
		if sent-before > 3*clock.LookEvery/2 {
			// It was not looked at for long: the beat is raised at once, so that what
			// is taken now is not on a disk with an earlier beat.
			v.memory.beatSeen = before
		}
	}
	if m.db != 0 {
		return
	}
	v.standing.bears = m.seats
	if v.standing.first == 0 {
		v.standing.first = sent
	}
	if v.claimed = m.residueOf(redlockd); v.claimed > 0 {
		v.claimSeen = sent
	}
}

// doubts takes over whether a mark is in doubt (M5); watched is whether the clock has
// been watched long enough to tell whether it stepped, steady whether it did not. A
// doubt that is new was written since the look before, and the step, if there was
// one, not long before that: who had a good baseline all that time can tell.
func (v *view) doubts(m *mark, watched, steady bool) {
	st := &v.standing
	if doubted := m.doubt > 0; doubted != st.doubted {
		st.clears = doubted && watched
		st.doubted = doubted
	}
	v.memory.clears = st.clears && steady && v.memory.doubt == 0
}

// stand makes of a judgement what is known of the seat; mk is the mark of database 0.
func (v *view) stand(s observation, mk *mark, j judgement) {
	st := &v.standing
	st.server, st.doubt = "", false
	st.remembers = s.mark != nil && s.mark.real && (j.open || j.reason == whyAsked)
	if mk != nil && j.open {
		st.server, st.doubt = mk.id, mk.doubt > 0
	}
	if s.mark != nil && s.mark == j.write {
		v.memory.doubt = 0
	}
}

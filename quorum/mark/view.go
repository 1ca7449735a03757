package mark

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// View is what one master's marks say as a link has seen them: the mark that votes
// are asked under, what is remembered of earlier ones, and its seat. It is told what
// it needs of other masters, so it can be tested without any. Not safe for concurrent
// use: which mark a vote was asked under and whether it counts go together (M3), so
// the link's mutex is held for it.
type View struct {
	// Under is the mark that votes are asked under, raw as it stands there;
	// nil for embedded masters.
	Under *Mark
	Raw   string
	// Bears is the state of the list of masters that was last seen in its
	// mark, whether or not that lets it vote (M8), BearsForReal whether that
	// was a real one, BearsAt when that look went out.
	Bears        Generation
	BearsForReal bool
	BearsAt      time.Duration
	// Sent is when the newest look at the mark went out, Pending since
	// when the mark is known to be pending; 0 when it is not (M4).
	Sent    time.Duration
	Pending time.Duration
	// BoreSince is since when under is known to bear what it does.
	BoreSince time.Duration
	Memory    Memory
	Standing  standing
	// claimed is the residue by which attempts are named, claimSeen when the
	// newest look went out that found it claimed (V6); database 0's counts.
	claimed   int
	claimSeen time.Duration
}

// standing is what is known of the master's seat (M9). It changes when the monitor looks.
type standing struct {
	// Server is the id of the mark in database 0 of the server that the link is
	// connected to.
	Server string
	// Doubt is whether its clock is in doubt (M5).
	Doubt bool
	// Borne is the seat as the other marks were last found to bear it.
	Borne Seat
	// Bears is what its own mark bears.
	Bears Seats
	// First is when this connection's first look at the mark went out, Last when
	// the newest did; 0 while there is none.
	First, Last time.Duration
	// returned is when a server that has restarted with its memory was seen
	// first, by its run_id. fresh is whether the one before had been looked at
	// right before it was lost.
	returned      time.Duration
	returnedRunID string
	fresh         bool
	// doubted is whether the mark that was seen last is in doubt, clears whether
	// we can tell that its clock did not step.
	doubted, clears bool
	// Remembers is whether its mark is real and has lost nothing, as far as it says.
	Remembers bool
}

// Real reports whether the master bears a real mark.
func (v *View) Real() bool { return v.Under != nil && v.Under.Real }

// Holds reports whether the server that the link is connected to is the holder of the
// master's seat.
func (v *View) Holds(holder string) bool {
	return v.Standing.Server != "" && holder == v.Standing.Server
}

// Superseded reports whether another server has the seat of one that has voted.
func (v *View) Superseded(holder string) bool {
	return v.Real() && holder != "" && holder != v.Standing.Server
}

// BearsFor reports whether the master's mark bears a hold of so many milliseconds.
func (v *View) BearsFor(ms int64) bool {
	return v.Under == nil || ms <= v.Under.Greatest.Milliseconds()
}

// Another reports whether the master bears another mark than the one with this id.
func (v *View) Another(id string) bool { return v.Under != nil && v.Under.ID != id }

// Claim returns by what this redlockd names its attempts on the master at a time (V6);
// false while it has no claim that it can trust.
func (v *View) Claim(now time.Duration) (int64, bool) {
	return int64(v.claimed), v.claimed > 0 && now-v.claimSeen <= claimTrust
}

// Connected begins anew what is known by one connection only.
func (v *View) Connected() {
	s := &v.Standing
	s.First, s.Last, s.Server, s.returned, s.Remembers = 0, 0, "", 0, false
}

// Lost notes how long before its loss the master was looked at.
func (v *View) Lost(now, timeout time.Duration) {
	limit := clock.LookEvery + 2*timeout + 10*clock.LookPause
	v.Standing.fresh = now-v.Sent <= limit
	v.Standing.First = 0
}

// Returned notes when the server came back, and returns until when others may
// still tell of what it lost, and whether it had been looked at right before it
// was lost.
func (v *View) Returned(s Observation, wait time.Duration) (until time.Duration, fresh bool) {
	st := &v.Standing
	if st.returned == 0 || st.returnedRunID != s.Server.RunID {
		st.returned, st.returnedRunID = s.Sent, s.Server.RunID
	}
	return st.returned + wait, st.fresh
}

// HeardOther reports whether a beat that was noted at a time is of another server
// than the one that the link is connected to: that of one that was restarted may
// be told of for a second or two.
func (v *View) HeardOther(at time.Duration) bool {
	return v.Standing.First != 0 && at > v.Standing.First+2*clock.LookEvery
}

// Learn takes a mark over that was looked at by what went out at sent.
func (v *View) Learn(m *Mark, raw string, sent, now time.Duration) {
	if v.Under == nil || v.Under.ID != m.ID || v.Under.Greatest != m.Greatest {
		v.BoreSince = now
	}
	v.Under, v.Raw, v.Sent = m, raw, sent
	v.SawList(m, sent)
	switch {
	case m.Real:
		v.Memory.sawReal, v.Memory.ID, v.Memory.RunID, v.Memory.beat = true, m.ID, m.RunID, m.Beat
		v.Pending = 0
	case v.Pending == 0:
		v.Pending = now
	}
}

// SawList takes over which list of masters a mark bears that was looked at by what went
// out at sent (M8).
func (v *View) SawList(m *Mark, sent time.Duration) {
	v.Bears, v.BearsForReal, v.BearsAt = m.Generation, m.Real, sent
}

// Note takes over from a mark when its beat was raised, and from one of database 0
// what it bears for all and what it lets this redlockd claim.
func (v *View) Note(m *Mark, sent time.Duration, redlockd string) {
	before := v.Standing.Last
	v.Standing.Last = sent
	if key := (beatKey{m.ID, m.Beat}); v.Memory.last != key {
		v.Memory.last, v.Memory.BeatSeen = key, sent
		if sent-before > 3*clock.LookEvery/2 {
			// It was not looked at for long: the beat is raised at once, so that what
			// is taken now is not on a disk with an earlier beat.
			v.Memory.BeatSeen = before
		}
	}
	if m.DB != 0 {
		return
	}
	v.Standing.Bears = m.Seats
	if v.Standing.First == 0 {
		v.Standing.First = sent
	}
	if v.claimed = m.residueOf(redlockd); v.claimed > 0 {
		v.claimSeen = sent
	}
}

// Doubts takes over whether a mark is in doubt (M5); watched is whether the clock has
// been watched long enough to tell whether it stepped, steady whether it did not. A
// doubt that is new was written since the look before, and the step, if there was
// one, not long before that: who had a good baseline all that time can tell.
func (v *View) Doubts(m *Mark, watched, steady bool) {
	st := &v.Standing
	if doubted := m.doubt > 0; doubted != st.doubted {
		st.clears = doubted && watched
		st.doubted = doubted
	}
	v.Memory.clears = st.clears && steady && v.Memory.Doubt == 0
}

// Stand makes of a judgement what is known of the seat; mk is the mark of database 0.
func (v *View) Stand(s Observation, mk *Mark, j Judgement) {
	st := &v.Standing
	st.Server, st.Doubt = "", false
	st.Remembers = s.Mark != nil && s.Mark.Real && (j.Open || j.Reason == whyAsked)
	if mk != nil && j.Open {
		st.Server, st.Doubt = mk.ID, mk.doubt > 0
	}
	if s.Mark != nil && s.Mark == j.Write {
		v.Memory.Doubt = 0
	}
}

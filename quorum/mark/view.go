package mark

import (
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// View is one master's marks as a link has seen them: the mark under which votes are
// asked, what is remembered of earlier marks, and the master's seat. What it needs to
// know of other masters is passed in, so it can be tested alone. Not safe for concurrent
// use: the link's mutex is held for it, because the mark under which a vote was asked and
// the check whether it counts go together (M3).
type View struct {
	// Under is the mark under which votes are asked, Raw its text; nil for embedded
	// masters, and until a connection has learned the mark.
	Under    *Mark
	Raw      string
	Recorded Recorded
	// Sent is when the newest look at the mark went out. Pending is since when the mark
	// is known to be pending; 0 if it is not (M4).
	Sent    time.Duration
	Pending time.Duration
	// UnderSince is since when Under is known to have its ID and Greatest.
	UnderSince time.Duration
	Memory     Memory
	Standing   standing
}

// Recorded is the state of the list of masters last seen in a mark, whether or not that lets
// the master vote (M8).
type Recorded struct {
	Generation
	// ID is the mark's id, Real is whether it was real, At when that look went out. ClosedAt
	// is since when it was seen to record that this change is closed or final.
	ID           string
	Real         bool
	At, ClosedAt time.Duration
}

// standing is what is known of the master's seat (M9). It changes when the monitor looks.
type standing struct {
	// Server is the id of the mark of the server that the link is connected to; empty if
	// it may not be asked anything.
	Server string
	// Doubt is whether the master's clock is in doubt (M5).
	Doubt bool
	// RecordedSeat is the seat as the other marks were last found to record it, recordedFrom
	// the reading of the master's clock from which its quarantine counts.
	RecordedSeat Seat
	recordedFrom int64
	// Seats are the seats that the master's own mark records.
	Seats Seats
	// First is when this connection's first look at the mark went out, Last when the
	// newest did; 0 while there is none.
	First, Last time.Duration
	// doubted is whether the mark last seen is in doubt, clears whether this redlockd can
	// tell that its clock did not step.
	doubted, clears bool
	// DoubtedAt is when the look went out since which the mark was in doubt, and the clock
	// is known not to have stepped; 0 if the mark is not in doubt.
	DoubtedAt time.Duration
	// Remembers is whether the mark is real and, as far as it shows, the master has lost
	// nothing.
	Remembers bool
}

// Real reports whether the master has a real mark.
func (v *View) Real() bool { return v.Under != nil && v.Under.Real }

// Holds reports whether the server that the link is connected to has the
// master's seat, and its mark is not of an earlier time (M4).
func (v *View) Holds(own Seat) bool {
	return v.Standing.Server != "" && own.Server == v.Standing.Server && !(v.Under != nil && v.Under.before(own, 3))
}

// Superseded reports whether another server has taken the seat of one that has voted.
func (v *View) Superseded(server string) bool {
	return v.Real() && server != "" && server != v.Standing.Server
}

// Connected resets what is known through one connection only.
func (v *View) Connected() {
	s := &v.Standing
	s.First, s.Last, s.Server, s.Remembers = 0, 0, "", false
}

// CountsFrom returns the reading of the master's clock from which a quarantine counts under
// the seat own, which was found to be recorded when the clock may have shown latest;
// reading is that of the newest look. Before that another server may have been in use.
func (v *View) CountsFrom(own Seat, latest, reading int64) int64 {
	st := &v.Standing
	if st.RecordedSeat.Same(own) {
		st.recordedFrom = min(st.recordedFrom, reading) // its clock may have gone back
	} else {
		st.RecordedSeat, st.recordedFrom = own, latest
	}
	return st.recordedFrom
}

// Lost notes that the connection was lost.
func (v *View) Lost() { v.Standing.First = 0 }

// BeatOfOther reports whether a beat seen at a time is of another server than the
// connected one. For the first two seconds it may be an old beat of a server that
// restarted.
func (v *View) BeatOfOther(at time.Duration) bool {
	return v.Standing.First != 0 && at > v.Standing.First+2*clock.LookEvery
}

// Learn takes over a mark that was read by a look or a batch sent at sent.
func (v *View) Learn(m *Mark, raw string, sent, now time.Duration) {
	if v.Under == nil || v.Under.ID != m.ID || v.Under.Greatest != m.Greatest {
		v.UnderSince = now
	}
	v.Under, v.Raw, v.Sent = m, raw, sent
	v.SawList(m, sent, now)
	switch {
	case m.Real:
		v.Memory.ID, v.Memory.RunID, v.Memory.beat = m.ID, m.RunID, m.Beat
		v.Pending = 0
	case v.Pending == 0:
		v.Pending = now
	}
}

// SawList takes over the state of the list of masters in a mark that was read by a look
// or a batch sent at sent (M8).
func (v *View) SawList(m *Mark, sent, now time.Duration) {
	was := v.Recorded
	closed := was.ClosedAt
	if was.ID != m.ID || was.Phase == Announced || was.Number != m.Number || was.Masters != m.Masters {
		closed = now
	}
	v.Recorded = Recorded{Generation: m.Generation, ID: m.ID, Real: m.Real, At: sent, ClosedAt: closed}
}

// Note takes over from a mark when its beat was raised, and the seats that it records.
func (v *View) Note(m *Mark, sent time.Duration) {
	before := v.Standing.Last
	v.Standing.Last = sent
	if last := v.Memory.last; last == nil || last.ID != m.ID || last.Beat != m.Beat {
		v.Memory.last, v.Memory.BeatSeen = m, sent
		if sent-before > 3*clock.LookEvery/2 {
			// The master was not looked at for long, or over another connection: the beat is
			// raised at once, so that a lock granted now is not on a disk with an earlier beat.
			v.Memory.BeatSeen = before
		}
	}
	v.Standing.Seats = m.Seats
	if v.Standing.First == 0 {
		v.Standing.First = sent
	}
}

// Doubts takes over whether a mark is in doubt (M5). watched reports whether the clock
// has been watched long enough to tell whether it stepped, steady whether it did not
// step. A new doubt was written after the previous look, and the step, if there was one,
// came shortly before that: a redlockd with a good baseline all that time can tell, until it
// begins a new one. It may not have seen that a later doubt took the place of the first.
func (v *View) Doubts(m *Mark, watched, steady bool) {
	st := &v.Standing
	if doubted := m.Doubt > 0; doubted != st.doubted {
		st.clears = doubted
		st.doubted = doubted
	}
	st.clears = st.clears && watched
	v.Memory.clears = st.clears && steady && v.Memory.Doubt == 0
}

// DoubtedSince notes, by a look that went out at sent, since when the mark is in doubt. steady
// reports whether the clock is known not to have stepped since DoubtedAt.
func (v *View) DoubtedSince(sent time.Duration, steady bool) {
	st := &v.Standing
	switch {
	case !st.doubted:
		st.DoubtedAt = 0
	case st.DoubtedAt == 0 || !steady:
		st.DoubtedAt = sent
	}
}

// Stand updates what is known of the seat after a judgement; doubt is the one that the
// judgement knew of: a later one is yet to be written.
func (v *View) Stand(s Observation, j Judgement, doubt time.Duration) {
	st := &v.Standing
	st.Server, st.Doubt = "", false
	st.Remembers = s.Mark != nil && s.Mark.Real && (j.Open || j.Reason == whyAsked)
	if s.Mark != nil && j.Open {
		st.Server, st.Doubt = s.Mark.ID, s.Mark.Doubt > 0
	}
	if s.Mark != nil && s.Mark == j.Write && v.Memory.Doubt == doubt {
		v.Memory.Doubt = 0
	}
}

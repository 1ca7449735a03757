package mark

import (
	"testing"
	"time"
)

// seenMark returns a mark of database 0.
func seenMark(real bool, beat int64) *Mark {
	return &Mark{Real: real, ID: "id", Name: "a", RunID: "run", Beat: beat, Greatest: time.Minute}
}

// M3, M4: a view takes over what a mark records, and remembers the last real mark, so
// that an older one is recognized by its beat.
func TestM4ViewRemembersRealMarks(t *testing.T) {
	v := &View{}
	v.Learn(seenMark(false, 1), "pending", time.Second, 2*time.Second)
	if v.Real() || v.Memory.ID != "" || v.Pending != 2*time.Second || v.UnderSince != 2*time.Second {
		t.Errorf("after a pending mark: %+v", v)
	}
	m := seenMark(true, 5)
	v.Learn(m, "real", 3*time.Second, 4*time.Second)
	if !v.Real() || v.Pending != 0 || v.UnderSince != 2*time.Second || v.Sent != 3*time.Second {
		t.Errorf("after a real mark: %+v", v)
	}
	if earlier := seenMark(true, 4); !v.Memory.NewerThan(earlier) || v.Memory.NewerThan(m) {
		t.Error("a mark of an earlier beat is not known")
	}
}

// M4: a beat's age counts from when it was first seen; if the master was not looked at
// for long, the beat is raised at once.
func TestM4ViewNotesBeats(t *testing.T) {
	v := &View{}
	v.Note(seenMark(true, 1), 10*time.Second)
	if v.Memory.BeatSeen != 0 {
		t.Errorf("a beat after a long pause is taken for seen at %v", v.Memory.BeatSeen)
	}
	v.Note(seenMark(true, 2), 11*time.Second)
	v.Note(seenMark(true, 2), 12*time.Second)
	if v.Memory.BeatSeen != 11*time.Second || v.Standing.First != 10*time.Second || v.Standing.Last != 12*time.Second {
		t.Errorf("seen %+v, %+v", v.Memory, v.Standing)
	}
}

// M9: the seat is known by the server that was judged, and only while the link is
// connected to it.
func TestM9ViewOfTheSeat(t *testing.T) {
	v := &View{}
	m := seenMark(true, 1)
	v.Learn(m, "raw", time.Second, time.Second)
	v.Stand(Observation{Mark: m}, Judgement{Open: true}, 0)
	if !v.Holds(Seat{Server: "id"}) || v.Holds(Seat{}) || v.Superseded("id") || v.Superseded("") || !v.Superseded("other") {
		t.Errorf("standing %+v", v.Standing)
	}
	if !v.Holds(Seat{Server: "id", Beat: m.Beat + 2}) || v.Holds(Seat{Server: "id", Beat: m.Beat + 3}) {
		t.Error("three beats show a memory of before, and two need not (M4)")
	}
	v.Connected()
	if v.Holds(Seat{Server: "id"}) || v.Holds(Seat{}) {
		t.Error("another connection has its seat")
	}
}

// M5: a redlockd that has watched the clock all the time removes a doubt; otherwise the
// doubt stays, even if the redlockd can tell later.
func TestM5ViewOfADoubt(t *testing.T) {
	for _, watched := range []bool{true, false} {
		v := &View{}
		m := seenMark(true, 1)
		m.Doubt = time.Second
		v.Doubts(m, watched, true)
		v.Doubts(m, true, true) // the doubt is not new any more
		if v.Memory.clears != watched {
			t.Errorf("watched %v, but takes it back %v", watched, v.Memory.clears)
		}
		if v.Doubts(m, true, false); v.Memory.clears {
			t.Error("takes it back while the clock does not fit")
		}
	}
}

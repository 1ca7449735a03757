package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// seenMark is a mark of database 0 as a view of it is told.
func seenMark(real bool, beat int64) *mark {
	return &mark{real: real, id: "id", name: "a", runID: "run", beat: beat, greatest: time.Minute,
		residues: []residue{{number: 7, redlockd: "me"}}}
}

// M3, M4: a view takes over what a mark bears, and remembers the real one that was
// seen last, so that an earlier one is known by its beat.
func TestM4ViewRemembersRealMarks(t *testing.T) {
	v := &view{}
	v.learn(seenMark(false, 1), "pending", time.Second, 2*time.Second)
	if v.real() || v.memory.sawReal || v.pending != 2*time.Second || v.boreSince != 2*time.Second {
		t.Errorf("after a pending mark: %+v", v)
	}
	m := seenMark(true, 5)
	v.learn(m, "real", 3*time.Second, 4*time.Second)
	if !v.real() || v.pending != 0 || v.boreSince != 2*time.Second || v.sent != 3*time.Second {
		t.Errorf("after a real mark: %+v", v)
	}
	if earlier := seenMark(true, 4); !v.memory.knowsBetter(earlier) || v.memory.knowsBetter(m) {
		t.Error("a mark of an earlier beat is not known")
	}
	if v.another("id") || !v.another("other") {
		t.Error("a rollback is for the mark that it was made under")
	}
	if !v.bearsFor(60000) || v.bearsFor(60001) {
		t.Error("it bears a minute")
	}
}

// M4: a beat is old from when it was seen first; where the master was not looked at
// for long it is raised at once. V6: a claim is trusted for as long as it is seen.
func TestM4ViewNotesBeats(t *testing.T) {
	v := &view{}
	v.note(seenMark(true, 1), 10*time.Second, "me")
	if v.memory.beatSeen != 0 {
		t.Errorf("a beat after a long pause is taken for seen at %v", v.memory.beatSeen)
	}
	v.note(seenMark(true, 2), 11*time.Second, "me")
	v.note(seenMark(true, 2), 12*time.Second, "me")
	if v.memory.beatSeen != 11*time.Second || v.standing.first != 10*time.Second || v.standing.last != 12*time.Second {
		t.Errorf("seen %+v, %+v", v.memory, v.standing)
	}
	if n, ok := v.claim(12*time.Second + claimTrust); n != 7 || !ok {
		t.Errorf("claim %d, %v", n, ok)
	}
	if _, ok := v.claim(12*time.Second + claimTrust + 1); ok {
		t.Error("an old claim is trusted")
	}
	if v.note(seenMark(true, 3), 13*time.Second, "another"); v.claimed != 0 {
		t.Error("it names by the claim of another redlockd")
	}
}

// M9: the seat is known by the server that was judged, and only while the link is
// connected to it.
func TestM9ViewOfTheSeat(t *testing.T) {
	v := &view{}
	m := seenMark(true, 1)
	v.learn(m, "raw", time.Second, time.Second)
	v.stand(observation{mark: m}, m, judgement{open: true})
	if !v.holds("id") || v.holds("") || v.superseded("id") || v.superseded("") || !v.superseded("other") {
		t.Errorf("standing %+v", v.standing)
	}
	v.lost(time.Second+clock.LookEvery, 50*time.Millisecond)
	if !v.standing.fresh {
		t.Error("it was looked at right before")
	}
	v.connected()
	if v.holds("id") || v.holds("") {
		t.Error("another connection has its seat")
	}
	s := observation{sent: 5 * time.Second, server: server{runID: "new"}}
	if until, fresh := v.returned(s, time.Second); until != 6*time.Second || !fresh {
		t.Errorf("back at %v, looked at right before %v", until, fresh)
	}
}

// M5: whoever has watched the clock all the time takes a doubt back; one that was
// written before it could tell stays.
func TestM5ViewOfADoubt(t *testing.T) {
	for _, watched := range []bool{true, false} {
		v := &view{}
		m := seenMark(true, 1)
		m.doubt = time.Second
		v.doubts(m, watched, true)
		v.doubts(m, true, true) // it is not new any more
		if v.memory.clears != watched {
			t.Errorf("watched %v, but takes it back %v", watched, v.memory.clears)
		}
		if v.doubts(m, true, false); v.memory.clears {
			t.Error("takes it back while the clock does not fit")
		}
	}
}

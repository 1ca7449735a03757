package quorum

import (
	"testing"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/vote"
)

// TestV5BallotBox checks that a ballotBox reports what the first master answered, how
// many have answered, and whether one may still act (V5).
func TestV5BallotBox(t *testing.T) {
	var box ballotBox
	box.open(3, vote.Needs{Quorum: 2, Required: -1})
	if box.refusedFirst() || !box.mayAct() || box.answered() != 0 {
		t.Error("nobody was asked first, and all are awaited")
	}
	box.first = 1
	for v, refused := range map[vote.Vote]bool{vote.Awaited: false, vote.Created: false, vote.Refused: true, vote.Silent: true, vote.Absent: true} {
		if box.ballots[1].Vote = v; box.refusedFirst() != refused {
			t.Errorf("vote %d of the first master: refused %v", v, !refused)
		}
	}
	box.ballots[0] = vote.Ballot{Vote: vote.Refused, Token: "x"}
	box.ballots[1] = vote.Ballot{Vote: vote.Refused, Token: "x"}
	box.ballots[2] = vote.Ballot{Vote: vote.Silent, MayAct: true}
	if !box.mayAct() || box.answered() != 2 {
		t.Errorf("may act %v, %d answered", box.mayAct(), box.answered())
	}
	if token, masters := box.refusal(); token != "x" || masters != 3 {
		t.Errorf("%q refuses on %b", token, masters)
	}
	if box.ballots[2].MayAct = false; box.mayAct() {
		t.Error("what is silent for sure may act")
	}
}

// TestBallotBoxOfMany checks that a ballotBox works for every number of masters, also
// for more than fit into few.
func TestBallotBoxOfMany(t *testing.T) {
	for n := 1; n <= cluster.MaxMasters; n++ {
		var box ballotBox
		if box.open(n, vote.Needs{}); len(box.ballots) != n || box.wentOut(n-1) {
			t.Errorf("%d ballots for %d masters", len(box.ballots), n)
		}
	}
}

package quorum

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/vote"
)

// TestV5BallotBox checks that a ballotBox reports what the first master answered, how
// many have answered, and whether one may still act (V5).
func TestV5BallotBox(t *testing.T) {
	var box ballotBox
	box.open(3, vote.Needs{Quorum: 2, Required: -1})
	answered := func() int { return vote.Count(box.ballots, box.needs).Answered }
	if box.refusedFirst() || !box.mayAct() || answered() != 0 {
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
	if !box.mayAct() || answered() != 2 {
		t.Errorf("may act %v, %d answered", box.mayAct(), answered())
	}
	if token, masters := box.refusal(); token != "x" || masters != 3 {
		t.Errorf("%q refuses on %b", token, masters)
	}
	if box.ballots[2].MayAct = false; box.mayAct() {
		t.Error("what is silent for sure may act")
	}
}

// TestV4HolderIsNotTold checks that what refuses an acquire-or-extend by the client h has no
// quorum with the silent masters if the lock may be its own (V4): by the smaller quorum of a
// list that changes, or since a master in quarantine may have forgotten it.
func TestV4HolderIsNotTold(t *testing.T) {
	x, h := vote.Ballot{Vote: vote.Found, Token: "x"}, vote.Ballot{Vote: vote.Found, Token: "h"}
	old := vote.Ballot{Vote: vote.Found, Token: "x", Doubtful: true}
	ours, silent := vote.Ballot{Vote: vote.Prolonged}, vote.Ballot{Vote: vote.Silent}
	for name, c := range map[string]struct {
		quorum, least int
		ballots       []vote.Ballot
		held          bool
	}{
		"one of four has it":               {3, 0, []vote.Ballot{ours, silent, x, x}, true},
		"while four become three":          {3, 2, []vote.Ballot{ours, silent, x, x}, false},
		"one of three has it":              {2, 0, []vote.Ballot{h, x, x}, true},
		"while another is in quarantine":   {2, 0, []vote.Ballot{h, old, x}, false},
		"nobody else can have a quorum":    {2, 0, []vote.Ballot{x, silent, silent}, false},
		"an awaited one may have ours":     {4, 0, []vote.Ballot{ours, silent, silent, {}, x, x, {Vote: vote.Found, Token: "y"}}, false},
		"and ours is on none of them, yet": {2, 0, []vote.Ballot{{Vote: vote.Absent}, silent, x}, true},
	} {
		var box ballotBox
		box.open(len(c.ballots), vote.Needs{Quorum: c.quorum, Least: c.least, Required: -1})
		copy(box.ballots, c.ballots)
		if got := box.heldWithSilent("h"); got != c.held {
			t.Errorf("%s: held %v, want %v", name, got, c.held)
		}
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

// TestV4HolderMeetsCopiesOfBefore checks that the holder is not told that another client has
// the lock (V4, V8, P4, trace 23): a, which is asked first, missed the release of the lock
// before, and b restarts with the data of then, so it is in quarantine.
func TestV4HolderMeetsCopiesOfBefore(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
		synctest.Wait()
		for _, f := range c.masters[:2] {
			f.Set("k", "before")
			f.SetTTL("k", 20*time.Second)
		}
		c.masters[1].kill()
		c.masters[1].startWithMemory()
		for range 20 {
			time.Sleep(500 * time.Millisecond)
			c.want(do(c.q, Op{Kind: AcquireOrExtend, Key: "k", Token: "A", TTL: 10 * time.Second}), Split)
			c.want(do(c.q, extend("k", "A", 10*time.Second)), Undecided)
		}
		c.want(do(c.q, release("k", "A")), Undecided)
	})
}

package quorum

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// TestV10LockThatMayLiveInQuarantine checks that a lock that was extended on a minority
// of the masters that answered is not read as over if it may live on the silent master
// and on one in quarantine, whose earlier data is not known (V10, M4).
func TestV10LockThatMayLiveInQuarantine(t *testing.T) {
	cfg := cluster.DefaultConfig()
	q := &Quorum{cfg: &cfg}
	q.agreed = mark.NewAgreement(q.cfg.Settings(), clock.Monotonic())
	spent := vote.Ballot{Vote: vote.Found, Token: "t", Left: 10 * time.Millisecond, Over: true}
	alive := vote.Ballot{Vote: vote.Found, Token: "t", Left: 10 * time.Second}
	stray := vote.Ballot{Vote: vote.Found, Token: "u", Left: 10 * time.Second, Doubtful: true}
	for _, c := range []struct {
		name    string
		ballots []vote.Ballot
		want    bool
	}{
		{"in quarantine with another token", []vote.Ballot{stray, spent, alive, spent, {Vote: vote.Silent}}, true},
		{"nobody else may have it", []vote.Ballot{{Vote: vote.Absent}, spent, alive, spent, {Vote: vote.Silent}}, false},
		{"used up everywhere", []vote.Ballot{stray, spent, spent, spent, {Vote: vote.Silent}}, false},
	} {
		a := &attempt{call: &call{q: q}, box: ballotBox{ballots: c.ballots}}
		votes := vote.Count(c.ballots, vote.Needs{Quorum: 3, Least: 3, Required: -1})
		if got := a.box.mayLive(&votes); got != c.want {
			t.Errorf("%s: it may live: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestV10OldCopiesAreNoHolder checks that a read does not report a token of earlier, which
// a majority has only with masters that came back with old data, while those may have
// forgotten the token that the other masters have (V10, P4).
func TestV10OldCopiesAreNoHolder(t *testing.T) {
	for _, down := range []int{-1, 1} {
		inBubble(t, 5, func(c *testCluster) {
			old := acquire("k", "old", 30*second)
			c.tell(do(c.q, old))
			synctest.Wait()
			c.masters[4].freeze()
			time.Sleep(second)
			set := Op{Kind: Store, Key: "k", Token: "new", TTL: 20 * second}
			c.tell(do(c.q, set))
			time.Sleep(second)
			c.masters[4].thaw()
			for _, f := range c.masters[2:4] {
				f.kill()
				f.Set("k", "old")
				f.SetTTL("k", 25*second)
				f.startWithMemory()
			}
			if down >= 0 {
				c.masters[down].kill()
			}
			time.Sleep(3500 * time.Millisecond)
			if o := do(c.q, Op{Kind: Read, Key: "k"}); o.Verdict != Undecided {
				t.Errorf("a read is %v %q, want undecided", o.Verdict, o.State.Token)
			}
		})
	}
}

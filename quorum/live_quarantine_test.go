package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/mark"
)

// V10, M4: a lock that was extended on a minority only, as far as is known, may
// live on the silent master and on the one in quarantine, which does not tell
// what it held before: nobody is told that it is over.
func TestV10LockThatMayLiveInQuarantine(t *testing.T) {
	q := &Quorum{cfg: DefaultConfig()}
	q.agreed = mark.NewAgreement(q.cfg.settings(), clock.Monotonic())
	spent := ballot{vote: found, token: "t", left: 10 * time.Millisecond, over: true}
	alive := ballot{vote: found, token: "t", left: 10 * time.Second}
	stray := ballot{vote: found, token: "u", left: 10 * time.Second, doubtful: true}
	for _, c := range []struct {
		name    string
		ballots []ballot
		want    bool
	}{
		{"in quarantine with another token", []ballot{stray, spent, alive, spent, {vote: silent}}, true},
		{"nobody else may have it", []ballot{{vote: absent}, spent, alive, spent, {vote: silent}}, false},
		{"used up everywhere", []ballot{stray, spent, spent, spent, {vote: silent}}, false},
	} {
		a := &attempt{call: &call{q: q}, ballots: c.ballots}
		votes := count(c.ballots, needs{quorum: 3, least: 3, required: -1})
		if got := a.mayLive(&votes); got != c.want {
			t.Errorf("%s: it may live: %v, want %v", c.name, got, c.want)
		}
	}
}

package status

import (
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

func TestOutlook(t *testing.T) {
	voting := func(name string) quorum.MasterStatus { return quorum.MasterStatus{Name: name, State: quorum.Voting} }
	waits := func(name string, wait time.Duration) quorum.MasterStatus {
		return quorum.MasterStatus{Name: name, State: quorum.Quarantine, Wait: wait}
	}
	down := func(name string) quorum.MasterStatus { return quorum.MasterStatus{Name: name, State: quorum.Down} }
	required := func(m quorum.MasterStatus) quorum.MasterStatus {
		m.Required = true
		return m
	}
	for _, test := range []struct {
		name    string
		silence time.Duration
		masters []quorum.MasterStatus
		wait    time.Duration
		master  string
		missing []string
		more    int
	}{
		{"the third is next", 0, []quorum.MasterStatus{voting("a"), waits("b", 9*time.Minute), voting("c"), waits("d", 6*time.Minute), down("e")},
			6 * time.Minute, "d", nil, 0},
		{"two are needed, so the later counts", 0, []quorum.MasterStatus{voting("a"), waits("b", 9*time.Minute), down("c"), waits("d", 6*time.Minute), waits("e", time.Hour)},
			9 * time.Minute, "b", nil, 0},
		{"one has to come back", 0, []quorum.MasterStatus{voting("a"), waits("b", time.Minute), down("c"), down("d"), down("e")},
			0, "", []string{"c", "d", "e"}, 1},
		{"all are gone", 0, []quorum.MasterStatus{down("a"), down("b"), down("c")}, 0, "", []string{"a", "b", "c"}, 2},
		{"the required one is gone", 0, []quorum.MasterStatus{required(down("a")), voting("b"), voting("c"), down("d"), waits("e", time.Minute)},
			0, "", []string{"a"}, 1},
		{"the required one waits longest", 0, []quorum.MasterStatus{required(waits("a", time.Hour)), voting("b"), voting("c"), voting("d"), waits("e", time.Minute)},
			time.Hour, "a", nil, 0},
		{"this redlockd grants nothing", time.Minute, []quorum.MasterStatus{voting("a"), voting("b"), voting("c")}, time.Minute, "", nil, 0},
		{"nor will it when the third votes", time.Hour, []quorum.MasterStatus{voting("a"), waits("b", time.Minute), down("c")}, time.Hour, "", nil, 0},
	} {
		o := outlook(quorum.Status{Quorum: len(test.masters)/2 + 1, Silence: test.silence, Masters: test.masters})
		if o == nil || o.Wait != test.wait.Milliseconds() || o.Master != test.master || !slices.Equal(o.Missing, test.missing) || o.More != test.more {
			t.Errorf("%s: %+v, want %v, %q, %d of %q", test.name, o, test.wait, test.master, test.more, test.missing)
		}
	}
	if o := outlook(quorum.Status{Ready: true, Quorum: 1}); o != nil {
		t.Errorf("while locks are taken: %+v", o)
	}
}

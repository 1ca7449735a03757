package admin

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

func TestReasons(t *testing.T) {
	got := Reasons(quorum.Status{Masters: []quorum.MasterStatus{
		{Name: "a", State: quorum.Voting},
		{Name: "b", State: quorum.Fresh, Reason: "new", Wait: 29_100 * time.Millisecond},
		{Name: "c", State: quorum.Down, Reason: "connection refused"},
	}})
	if want := "b new, waiting 29s; c down: connection refused"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

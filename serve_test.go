package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// TestDevServesAndStops is the straight line: five embedded masters, and a
// stop that ends well.
func TestDevServesAndStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &syncBuffer{wanted: "ready", found: cancel}
	var stdout bytes.Buffer
	err := run(ctx, []string{"-dev", "-listen", "127.0.0.1:0"}, &stdout, out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"keep nothing", "serving", "ready", "stopping", "stopped"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("does not say %q:\n%s", want, out.String())
		}
	}
}

func TestReasons(t *testing.T) {
	got := reasons(quorum.Status{Masters: []quorum.MasterStatus{
		{Name: "a", State: quorum.Voting},
		{Name: "b", State: quorum.Fresh, Reason: "new", Wait: 29_100 * time.Millisecond},
		{Name: "c", State: quorum.Down, Reason: "connection refused"},
	}})
	if want := "b new, waiting 29s; c down: connection refused"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

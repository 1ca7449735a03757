package notify

import (
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/commands"
)

func TestSignalsAreBoundedAndEnd(t *testing.T) {
	g := NewSignals()
	now := time.Now()
	for i := range 2 * maxSignals {
		g.Fill(commands.Notice{Signal: fmt.Sprint(i), Items: []string{"1"}, TTL: time.Hour, Lock: "k"}, now)
	}
	if len(g.lists) > maxSignals || len(g.locks) > maxSignals {
		t.Errorf("%d lists and %d locks are kept", len(g.lists), len(g.locks))
	}
	w := NewWaiter(7, 0, [][]byte{[]byte("0")}, false)
	if _, ok := g.PopNow(w, now.Add(maxSignalTTL+1)); ok {
		t.Error("a signal outlived its time")
	}
	for _, key := range []string{"a", "b"} {
		g.Fill(commands.Notice{Signal: key, Items: []string{"1"}, TTL: time.Second}, now.Add(maxSignalTTL+1))
	}
	if len(g.lists) > 2 {
		t.Errorf("%d lists are kept, want the new ones", len(g.lists))
	}
}

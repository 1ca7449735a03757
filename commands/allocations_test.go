package commands

import (
	"testing"

	"github.com/redlockd/redlockd/quorum"
)

// TestAllocations keeps what an operation allocates at most at the figures of
// docs/performance.md.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates itself, and empties pools at random")
	}
	in := New(rejecting(), func() int64 { return fakeNow })
	load, _ := in.Understand(0, [][]byte{[]byte("SCRIPT"), []byte("LOAD"), []byte(compareDelete)})
	set, evalsha := line("SET lock:orders 0123456789abcdef0123 NX PX 30000"), line("EVALSHA sha 1 lock:orders 0123456789abcdef0123")
	evalsha[1] = []byte(load.Reply(nil).Text)
	outs := []*quorum.Outcome{won()}
	understand := func(args [][]byte) func() {
		return func() {
			req, _ := in.Understand(0, args)
			req.Reply(outs)
		}
	}
	for _, a := range []struct {
		name string
		most float64
		do   func()
	}{
		{"commands, SET NX and its reply", 3, understand(set)},
		{"commands, EVALSHA and its reply", 6, understand(evalsha)},
	} {
		a.do() // pools and maps
		if got := testing.AllocsPerRun(500, a.do); got > a.most {
			t.Errorf("%s: %v allocations, docs/performance.md says at most %v", a.name, got, a.most)
		} else {
			t.Logf("%s: %v allocations", a.name, got)
		}
	}
}

package quorum

import (
	"testing"
	"unsafe"

	"github.com/redlockd/redlockd/quorum/vote"
)

// TestAllocations keeps the allocations of an operation within the figures of
// docs/performance.md.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates itself, and empties pools at random")
	}
	// 2 KiB is one of the allocator's sizes, and the next one costs up to a tenth of redlockd's time.
	if size := unsafe.Sizeof(attempt{}); size > 2048 {
		t.Errorf("an attempt has %d bytes, want at most 2048", size)
	}
	op, ballots, n := acquire("k", "t", 1), ballotsOf(), vote.Needs{Quorum: 3, Required: -1}
	c := newCycler(quickQuorum(t, 1), 0)
	for _, a := range []struct {
		name string
		most float64
		do   func()
	}{
		{"quorum, a vote", 0, func() { vote.VerdictOf(op.question(), ballots, n) }},
		{"quorum, a cycle over one master", 34, func() { c.cycle(t) }},
	} {
		a.do() // fill pools and maps
		if got := testing.AllocsPerRun(500, a.do); got > a.most {
			t.Errorf("%s: %v allocations, docs/performance.md says at most %v", a.name, got, a.most)
		} else {
			t.Logf("%s: %v allocations", a.name, got)
		}
	}
}

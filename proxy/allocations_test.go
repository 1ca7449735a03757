package proxy

import (
	"testing"

	"github.com/redlockd/redlockd/internal/resp"
)

// TestAllocations keeps what an operation allocates at most at the figures of
// docs/performance.md.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates itself, and empties pools at random")
	}
	next, cycle, buf := parser(), cycling(t), make([]byte, 0, 512)
	for _, a := range []struct {
		name string
		most float64
		do   func()
	}{
		{"proxy, parse a command", 0, func() { next() }},
		{"proxy, encode four replies", 0, func() {
			buf = buf[:0]
			for _, r := range fourReplies {
				buf = resp.Append(buf, r, 2)
			}
		}},
		{"proxy, a cycle without masters", 20, cycle},
	} {
		a.do() // pools and maps
		if got := testing.AllocsPerRun(500, a.do); got > a.most {
			t.Errorf("%s: %v allocations, docs/performance.md says at most %v", a.name, got, a.most)
		} else {
			t.Logf("%s: %v allocations", a.name, got)
		}
	}
}

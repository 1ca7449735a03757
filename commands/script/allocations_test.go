package script

import (
	"testing"
)

// TestAllocations keeps what an operation allocates at most at the figures of
// docs/performance.md.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates itself, and empties pools at random")
	}
	l := NewLibrary()
	sha, _ := l.Load(release)
	for _, a := range []struct {
		name string
		most float64
		do   func()
	}{
		{"script, look-up", 1, func() { _, _ = l.Understand(0, sha, lock, mine) }},
	} {
		a.do() // pools and maps
		if got := testing.AllocsPerRun(500, a.do); got > a.most {
			t.Errorf("%s: %v allocations, docs/performance.md says at most %v", a.name, got, a.most)
		} else {
			t.Logf("%s: %v allocations", a.name, got)
		}
	}
}

package proxy

import (
	"testing"

	"github.com/redlockd/redlockd/quorum"
)

// P5: where a write fails, what was granted by the replies that had left in full
// was told, and ends; the others are undone.
func TestRepliesBeforeAFailedOneAreTold(t *testing.T) {
	first, second := &quorum.Outcome{}, &quorum.Outcome{}
	q := &fakeQuorum{granted: map[*quorum.Outcome]string{first: "k", second: "l"}, undone: make(chan string, 2)}
	w := &batch{slots: []*slot{{granted: []*quorum.Outcome{first}}, {granted: []*quorum.Outcome{second}}}, ends: []int{5, 10}}
	w.undo(q, 7)
	if _, left := q.granted[second]; left || q.heard != 1 {
		t.Errorf("%d were told, want 1; the other is still granted: %v", q.heard, left)
	}
}

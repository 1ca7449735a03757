package replies

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum"
)

// noted notes what becomes of grants.
type noted struct {
	Promises
	undone []*quorum.Outcome
}

func (n *noted) Clock(*quorum.Outcome) time.Duration { return 1 }
func (n *noted) Undo(o *quorum.Outcome)              { n.undone = append(n.undone, o) }

// P5: where a write fails, what was granted by the replies that had left in full
// was told, and ends; the others are undone.
func TestRepliesBeforeAFailedOneAreTold(t *testing.T) {
	first, second := &quorum.Outcome{}, &quorum.Outcome{}
	g := &noted{}
	w := &batch{slots: []*Slot{{granted: []*quorum.Outcome{first}}, {granted: []*quorum.Outcome{second}}}, ends: []int{5, 10}}
	w.undo(g, 7)
	if len(g.undone) != 1 || g.undone[0] != second {
		t.Errorf("%d were undone, want the second", len(g.undone))
	}
}

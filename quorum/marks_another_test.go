package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// TestM3VoteUnderAnotherMark checks that a master that has lost its memory since it was asked
// has no vote, although another redlockd has written a new mark by then (M3). A has the lock
// on a b c. B's acquire is on its way to a and b as both lose their memory.
func TestM3VoteUnderAnotherMark(t *testing.T) {
	for _, real := range []bool{false, true} {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "A", 10*time.Second)), Won)
			time.Sleep(200 * time.Millisecond)
			for _, f := range c.masters {
				f.away(5 * time.Millisecond)
			}
			out := make(chan *Outcome, 1)
			go func() { out <- do(c.q, acquire("k", "B", 10*time.Second)) }()
			time.Sleep(2 * time.Millisecond)
			for i, f := range c.masters[:2] {
				m := c.markOf(i).With(func(m *mark.Mark) { m.ID, m.Real, m.Why = mark.NewID(), real, "new" })
				f.FlushAll()
				f.Set(mark.Key, m.String())
			}
			if o := <-out; o.Verdict == Won {
				t.Errorf("real %v: a second holder", real)
			}
		})
	}
}

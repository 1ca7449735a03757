package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestP5ShortenedAndUndone checks that an acquire-or-extend which had to shorten a copy that was
// left of an earlier attempt is rolled back like any other that has created the lock, if its
// client cannot be answered (P5, V6).
func TestP5ShortenedAndUndone(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.overwrite("k", "t", 0)      // left by a redlockd that crashed during A's acquire of a minute
		c.slow(4*time.Millisecond, 2) // the first two answers are of a, which has a copy, and b
		o := c.want(do(c.q, Op{Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: 20 * time.Second}), Won)
		synctest.Wait()
		o.Undo()
		time.Sleep(2 * time.Second)
		if n := c.copies("k", "t"); n > 1 {
			t.Errorf("%d copies are left of a lock whose client has gone", n)
		}
		c.want(do(c.q, acquire("k", "u", time.Second)), Won)
	})
}

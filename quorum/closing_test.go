package quorum

import (
	"fmt"
	"testing"
	"time"
)

// TestM8ClosedAtOnce checks that once a majority of the marks is closed, no lock is
// granted under the previous list any more, not even to an operation that was sent
// under an announced mark before the next look (M8).
func TestM8ClosedAtOnce(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		old := c.redlockd()
		time.Sleep(3 * time.Second)
		c.change(c.q, c.listed("e", c.join("f")))
		c.reaches(c.q, 2, "announced")
		time.Sleep(c.cfg.Handover - 2*time.Second)
		given := 0
		var closed time.Time
		for n := 0; closed.IsZero() || time.Since(closed) < 1500*time.Millisecond; n++ {
			if closed.IsZero() && c.q.Status().Phase == "closed" {
				closed = time.Now()
			}
			o := do(old, acquire(fmt.Sprint("k", n), "t", time.Second))
			switch {
			case o.Verdict == Won && closed.IsZero():
				given++
			case o.Verdict == Won:
				t.Fatalf("the list before gave a lock %v after it was closed", time.Since(closed))
			}
			time.Sleep(10 * time.Millisecond)
		}
		if given == 0 {
			t.Error("the list before gave no lock while the change was announced")
		}
	})
}

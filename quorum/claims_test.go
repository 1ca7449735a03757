package quorum

import (
	"testing"
	"time"
)

// TestV6BeatsOfManyReconnections checks that the beat by which claims of residues age is not
// raised faster by redlockd that lose their connections again and again (V6, why 51): a
// redlockd trusts its claim for 5 s of its own clock, and others may take it after 120 beats.
func TestV6BeatsOfManyReconnections(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		var flapping []*way
		for range 9 {
			_, ways := c.redlockdOver(c.cfg.Masters)
			flapping = append(flapping, ways["a"])
		}
		time.Sleep(5 * time.Second)
		before, began := c.markOf(0).Beat, time.Now()
		for time.Since(began) < 5*time.Second {
			for _, w := range flapping {
				w.leads(c.masters[0].dial)
				time.Sleep(45 * time.Millisecond)
			}
		}
		if n := c.markOf(0).Beat - before; n > 10 {
			t.Errorf("%d beats in 5 s", n)
		}
	})
}

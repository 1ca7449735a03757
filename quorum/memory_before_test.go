package quorum

import (
	"testing"
	"time"
)

// TestM4MemoryOfBefore checks that a master that is put back to its memory of a moment before,
// with its run_id (as from the snapshot of a virtual machine), is detected by a redlockd that
// has just started: the other marks record later beats. They may be looked at after the
// master's own (why 138).
func TestM4MemoryOfBefore(t *testing.T) {
	for _, ago := range []time.Duration{5 * time.Second, 30 * time.Second} {
		for _, later := range []time.Duration{0, 200 * time.Millisecond} {
			inBubble(t, 3, func(c *testCluster) {
				a, third := c.masters[0], c.masters[2]
				old := a.disk()
				time.Sleep(ago - time.Second)
				c.onTwo()
				time.Sleep(time.Second)
				c.stop(c.q)
				old()
				started, ways := c.redlockdOver(c.cfg.Masters)
				if later > 0 {
					ways["b"].leads(noRoute)
					ways["c"].leads(noRoute)
					time.Sleep(later)
					ways["c"].leads(third.dial)
				}
				for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
					if o := do(started, acquire("k", "B", time.Second)); o.Verdict == Won {
						t.Fatalf("%v ago, the others later by %v: a second holder", ago, later)
					}
				}
				if s := started.Status().Masters[0]; s.State != Quarantine {
					t.Errorf("%v ago, the others later by %v: a is %s %s", ago, later, s.State, s.Reason)
				}
			})
		}
	}
}

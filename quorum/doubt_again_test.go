package quorum

import (
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// doubted returns how many of the masters' marks record a doubt.
func (c *testCluster) doubted() (n int) {
	for _, f := range c.masters {
		if raw, err := f.DB(0).Get(mark.Key); err == nil && strings.Fields(raw)[19] != "0" {
			n++
		}
	}
	return n
}

// TestM5WitnessOfAnEarlierDoubt checks that who could tell that no clock had stepped when a
// doubt was written takes back no later one, which came before it saw the first one gone:
// meanwhile it saw the clocks step itself. A redlockd that has just started would give A's
// lock to B (M5, why 160).
func TestM5WitnessOfAnEarlierDoubt(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		s := &stoppable{}
		paused := c.redlockdBy(s.clock())
		time.Sleep(5 * time.Second)
		c.want(do(c.q, acquire("k", "A", 50*time.Second)), Won)
		time.Sleep(3 * time.Second)
		s.mu.Lock()
		s.skipped += 900 * time.Millisecond
		s.mu.Unlock()
		for c.doubted() < 3 {
			time.Sleep(time.Millisecond)
		}
		for c.doubted() > 0 { // the other one takes them back
			start(paused, Op{Kind: Read, Key: "other"})
			time.Sleep(time.Millisecond)
		}
		for _, f := range c.masters {
			f.set(func() { f.offset += time.Minute })
		}
		for range 20 {
			start(paused, Op{Kind: Read, Key: "other"})
			time.Sleep(5 * time.Millisecond)
		}
		fresh := c.redlockd()
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			if o := do(fresh, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder")
			}
		}
	})
}

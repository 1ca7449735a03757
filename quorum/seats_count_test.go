package quorum

import (
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// TestM9TimeBeforeTheSeatIsRecorded checks that a new server's quarantine does not count the
// time since its last look when its seat turns out to be recorded: until then R2 may have
// used the old server (M9). A has the old a and b, and B would get the new a and c.
func TestM9TimeBeforeTheSeatIsRecorded(t *testing.T) {
	for phase := range 10 {
		inBubble(t, 3, func(c *testCluster) {
			two, ways := c.redlockdOver(c.cfg.Masters)
			c.stop(c.q)
			time.Sleep(3 * time.Second)
			c.want(do(two, acquire("before", "A", 380*time.Millisecond)), Won)
			ways["b"].leads(noRoute)
			ways["c"].leads(noRoute)
			b := c.masters[1]
			b.set(func() { b.way = 5 * time.Millisecond })
			one, waysOfOne := c.redlockdOver(c.moved("a", c.server("run-new")))
			seat := func(m *mark.Mark) mark.Seat { return m.Seats[mark.NameHash("a")] }
			for s := (mark.Seat{}); s.Epoch < 2; time.Sleep(time.Millisecond) {
				s, _ = one.agreed.Of(mark.NameHash("a"))
			}
			waysOfOne["b"].leads(noRoute) // before b records it
			b.set(func() { b.way = 0 })
			ways["b"].leads(b.dial)
			time.Sleep(5*time.Second + time.Duration(phase)*100*time.Millisecond)
			if s := seat(b.markOf(t)); s.Epoch > 1 {
				t.Fatalf("b records %+v", s)
			}
			waysOfOne["b"].leads(b.dial)
			taken := map[string]time.Time{}
			for i := 0; seat(b.markOf(t)).Epoch < 2; i++ {
				key, sent := fmt.Sprint("k", i), time.Now()
				c.want(do(two, acquire(key, "A", 380*time.Millisecond)), Won) // on the old a, and b
				taken[key] = sent
				time.Sleep(10 * time.Millisecond)
			}
			for range 60 {
				for key, sent := range taken {
					if time.Since(sent) >= 380*time.Millisecond {
						delete(taken, key)
					} else if o := do(one, acquire(key, "B", 300*time.Millisecond)); o.Verdict == Won && time.Since(sent) < 380*time.Millisecond {
						t.Fatalf("a second holder of %s after %v", key, time.Since(sent))
					}
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

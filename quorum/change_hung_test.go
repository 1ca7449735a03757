package quorum

import (
	"slices"
	"testing"
	"time"
)

// M8: c is replaced by x. What R1 writes to make that final hangs in the network until a b c
// are flushed, and R2 has begun them anew with the old list: A on a c by that list, B on b x
// by the new one. Which of two servers has a seat of one epoch is left to their random ids,
// so it is tried several times.
func TestM8FinalThatComesLate(t *testing.T) {
	for range 4 {
		inBubbleWith(t, 3, short, func(c *testCluster) {
			before, list := slices.Clone(c.cfg.Masters), c.listed("c", c.join("x"))
			c.change(c.q, list)
			c.reaches(c.q, 2, "closed")
			c.stop(c.q)
			slow := &detour{let: make(chan struct{})}
			defer slow.release()
			for i := range list {
				if name := list[i].Name; name != "a" {
					list[i].Dial = slow.dial(c.masters[slices.IndexFunc(c.masters, func(f *fakeMaster) bool { return f.Name == name })])
				}
			}
			one, waysOfOne := c.redlockdOver(list)
			for slow.count() < 2 {
				time.Sleep(10 * time.Millisecond)
			}
			waysOfOne["a"].leads(noRoute)
			for _, f := range c.masters[:3] {
				f.FlushAll()
			}
			old, waysOfOld := c.redlockdOver(before)
			c.serves(old, 3)
			waysOfOld["b"].leads(noRoute)
			time.Sleep(time.Second)
			c.want(do(old, acquire("k", "A", 5*time.Second)), Won)
			taken := time.Now()
			slow.release()
			for time.Since(taken) < 4*time.Second {
				if o := do(one, acquire("k", "B", time.Second)); o.Verdict == Won {
					t.Fatalf("two holders after %v", time.Since(taken))
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
}

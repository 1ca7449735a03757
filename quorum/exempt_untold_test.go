package quorum

import (
	"testing"
	"time"
)

// TestM4BeatIsTold checks that a redlockd that sees a beat writes it to the other
// marks, also if another redlockd, which does not reach that master, raises the beats
// of the others all the time and they are always looked at right after that (M4).
func TestM4BeatIsTold(t *testing.T) {
	for _, later := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond} {
		inBubble(t, 3, func(c *testCluster) {
			direct := c.cfg.Masters
			to := c.throughCable(0)
			late := c.redlockd()
			c.cfg.Masters = direct
			time.Sleep(3 * time.Second)
			c.stop(c.q)
			for i, f := range c.masters {
				f.set(func() { f.AOF = true })
				if i > 0 { // the looks at them come a little later than those at a
					f.set(func() { f.Delay = later })
				}
			}
			c.q = c.redlockd()
			time.Sleep(2 * time.Second)
			for _, f := range c.masters {
				f.set(func() { f.Delay = 0 })
			}
			time.Sleep(2 * time.Second)
			to.cut(true)
			time.Sleep(10 * time.Second)
			a := c.masters[0]
			old := a.disk()
			time.Sleep(5 * time.Second)
			c.masters[2].kill()
			c.want(do(c.q, acquire("k", "t", time.Minute)), Won) // on a and b
			a.kill()
			c.stop(c.q)
			old()
			to.cut(false)
			a.startWithMemory()
			c.masters[2].mend()
			for range 200 {
				time.Sleep(100 * time.Millisecond)
				if o := do(late, acquire("k", "u", time.Second)); o.Verdict == Won {
					t.Errorf("%v: a disk of 5 s before, and a second holder", later)
					return
				}
			}
		})
	}
}

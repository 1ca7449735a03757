package quorum

import (
	"testing"
	"time"
)

// TestM4ConnectionLostBefore checks that a redlockd whose connection to a master broke
// long before the master restarted does not go by the beat that it saw last: another one
// may have used the master meanwhile, and the mark that says so may be out of reach (M4).
func TestM4ConnectionLostBefore(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		direct := c.cfg.Masters
		toA, toB := c.throughCable(0), c.throughCable(1)
		late := c.redlockd()
		c.cfg.Masters = direct
		for _, f := range c.masters {
			f.set(func() { f.AOF = true })
		}
		time.Sleep(5 * time.Second)
		c.masters[2].kill()
		time.Sleep(5 * time.Second)
		toA.cut(true)
		toB.cut(true)
		a := c.masters[0]
		old := a.disk()
		time.Sleep(20 * time.Second)
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won) // on a and b
		a.kill()
		c.stop(c.q)
		old()
		toA.cut(false)
		a.startWithMemory()
		c.masters[2].mend()
		for range 200 {
			time.Sleep(100 * time.Millisecond)
			if o := do(late, acquire("k", "u", time.Second)); o.Verdict == Won {
				t.Errorf("a disk of 20 s before, and a second holder")
				return
			}
		}
	})
}

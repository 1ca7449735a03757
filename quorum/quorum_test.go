package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestLockCycle(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		time.Sleep(time.Second)
		if n := c.copies("k", "t"); n != 5 {
			t.Errorf("%d copies, want 5", n)
		}
		c.want(do(c.q, acquire("k", "u", 10*time.Second)), Held)
		o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		if o.State.Token != "t" || o.State.TTL > 9*time.Second || o.State.TTL < 8*time.Second {
			t.Errorf("read %+v", o.State)
		}
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 20 * time.Second}), Won)
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "u", TTL: 20 * time.Second}), Held)
		c.want(do(c.q, release("k", "u")), Held)
		c.want(do(c.q, release("k", "t")), Won)
		c.want(do(c.q, release("k", "t")), Absent)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Absent)
		synctest.Wait()
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("%d copies left", n)
		}
	})
}

package quorum

import (
	"testing"
	"time"
)

// onTwo takes A's lock on a and b, while c is away.
func (c *testCluster) onTwo() {
	c.t.Helper()
	c.masters[2].kill()
	c.want(do(c.q, acquire("k", "A", time.Minute)), Won)
	c.masters[2].mend()
}

// lags makes a master the replica of a server that lacks A's lock.
func (f *fakeMaster) lags() {
	f.set(func() { f.Replica = true })
	f.Del("k")
}

// wantNoOther checks that B does not get A's lock through q for some seconds.
func (c *testCluster) wantNoOther(q *Quorum, d time.Duration) {
	c.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if o := do(q, acquire("k", "B", time.Second)); o.Verdict == Won {
			c.t.Fatalf("a second holder: %+v", q.Status().Masters)
		}
	}
}

// TestM4UnfitUntilItIsWritten checks that a master that was a replica counts as one that may
// have lost locks until its mark records that, also if the first write of the mark fails
// (why 137).
func TestM4UnfitUntilItIsWritten(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, f := range c.masters {
			f.set(func() { f.AOF = true })
		}
		b := c.masters[1]
		c.onTwo()
		b.kill()
		b.lags()
		b.startWithMemory()
		time.Sleep(5 * time.Second)
		b.kill()
		b.set(func() { b.Replica = false })
		b.refuse("OOM command not allowed when used memory > 'maxmemory'.")
		b.startWithMemory()
		time.Sleep(3 * time.Second)
		b.refuse("")
		c.wantNoOther(c.q, 15*time.Second)
	})
}

// TestM9ReplicaIsToldToOthers checks that a redlockd that sees that a master has become a
// replica, and so may have lost locks, records that in the other marks: it may have ended, or
// be cut off, when the replica is a master again (why 200).
func TestM9ReplicaIsToldToOthers(t *testing.T) {
	for _, first := range []string{"ends", "is cut off"} {
		inBubble(t, 3, func(c *testCluster) {
			b := c.masters[1]
			late, ways := c.redlockdOver(c.cfg.Masters)
			time.Sleep(5 * time.Second)
			c.stop(c.q)
			var own map[string]*way
			c.q, own = c.redlockdOver(c.cfg.Masters)
			c.ready()
			c.onTwo()
			ways["b"].leads(noRoute)
			b.lags()
			time.Sleep(10 * time.Second)
			if first == "ends" {
				c.stop(c.q)
			} else {
				own["b"].leads(noRoute)
			}
			time.Sleep(time.Second)
			b.set(func() { b.Replica = false })
			ways["b"].leads(b.dial)
			c.wantNoOther(late, 10*time.Second)
			c.q = late
		})
	}
}

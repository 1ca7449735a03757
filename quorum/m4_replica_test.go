package quorum

import (
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
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
// (why 88).
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
// be cut off, when the replica is a master again (why 135).
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

// TestM4ReplicaThatLags checks what docs/safety.md says of the first second in which a
// master is a replica of a server that lacks the latest writes: it may mislead reads and
// the holder where its vote is decisive, but no other client gets the lock (M4). Here it is
// the required one of three, or one of two; it lacks A's lock, or has an earlier one.
func TestM4ReplicaThatLags(t *testing.T) {
	prolongs := Op{Kind: Extend, Key: "k", Token: "A", TTL: 10 * time.Second}
	for _, r := range []struct {
		masters int
		has     string
		op      Op
		want    Verdict
	}{
		{3, "", Op{Kind: Read, Key: "k"}, Absent},
		{3, "", prolongs, Absent},
		{3, "", Op{Kind: Release, Key: "k", Token: "A"}, Won},
		{3, "", acquire("k", "B", 10*time.Second), Undecided},
		{3, "earlier", Op{Kind: Read, Key: "k"}, Held},
		{3, "earlier", prolongs, Held},
		{2, "", Op{Kind: Read, Key: "k"}, Absent},
		{2, "", prolongs, Absent},
		{2, "", Op{Kind: Release, Key: "k", Token: "A"}, Absent},
		{2, "", acquire("k", "B", 10*time.Second), Undecided},
	} {
		t.Run(fmt.Sprintf("%v of %d, it has %q", r.op.Kind, r.masters, r.has), func(t *testing.T) {
			inBubbleWith(t, r.masters, func(cfg *cluster.Config) { cfg.Masters[0].Required = r.masters == 3 }, func(c *testCluster) {
				c.want(do(c.q, acquire("k", "A", 10*time.Second)), Won)
				c.masters[0].followsLate("k", r.has)
				o := c.want(do(c.q, r.op), r.want)
				if r.want == Held && o.State.Token != r.has {
					t.Errorf("held by %q, want %q", o.State.Token, r.has)
				}
			})
		})
	}
}

// followsLate makes the master a replica, which has an earlier token under a key, or none.
func (f *fakeMaster) followsLate(key, token string) {
	f.set(func() {
		f.Replica = true
		for _, command := range []string{"SET", "DEL", "PEXPIREAT"} {
			f.Refused[command] = "READONLY You can't write against a read only replica."
		}
	})
	f.Del(key)
	if token != "" {
		f.Set(key, token)
		f.SetTTL(key, 10*time.Second)
	}
}

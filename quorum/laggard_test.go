package quorum

import (
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

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

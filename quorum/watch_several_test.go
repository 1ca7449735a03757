package quorum

import (
	"testing"
	"time"
)

// TestS4ReadIsNoChange checks that an operation on several keys marks the watches on those
// that it changes, and not on those that it has only read (S4, why 180).
func TestS4ReadIsNoChange(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", 10*time.Second)))
		var j, k Watch
		c.want(do(c.q, Op{Kind: Read, Key: "j", Arm: &j}), Absent)
		c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &k}), Held)
		var changes []Change
		all := Op{Kind: DecideAll, Keys: []string{"j", "k"}, DecideAll: func([]State) []Change { return changes }}
		c.want(do(c.q, all), Won)
		if j.Changed() || k.Changed() {
			t.Error("changed by what has only read")
		}
		changes = []Change{{Key: "j", Token: "u", TTL: 10 * time.Second}}
		o := c.want(do(c.q, all), Won)
		if !j.Changed() || k.Changed() {
			t.Errorf("j changed: %v, k: %v; only j did", j.Changed(), k.Changed())
		}
		if o.Undo(); k.Changed() {
			t.Error("k was changed by the undoing of what was done to j")
		}
		j.Close()
		k.Close()
	})
}

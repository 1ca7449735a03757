package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// moveTo is a transaction on k and l: it does with k what change says, and takes l. Once it
// has read both, C gets l on two masters.
func (c *testCluster) moveTo(change Change) Op {
	first := true
	return Op{Kind: DecideAll, Keys: []string{"k", "l"}, DecideAll: func(s []State) []Change {
		if first {
			first = false
			for _, f := range c.masters[1:] {
				_ = f.Set("l", "C")
				f.SetTTL("l", time.Minute)
			}
		}
		if !s[0].Found || s[0].Token != "t" || s[1].Found {
			return nil // the reply is 0
		}
		return []Change{change, {Key: "l", Token: "u", TTL: 10 * time.Second}}
	}}
}

func (c *testCluster) heldOnTwo() {
	c.masters[2].kill()
	time.Sleep(time.Second)
	c.tell(do(c.q, acquire("k", "t", 60*time.Second)))
	c.masters[2].mend()
	time.Sleep(10 * time.Second)
	synctest.Wait()
	if n := c.copies("k", "t"); n != 2 {
		c.t.Fatalf("%d copies", n)
	}
}

// A transaction that is refused on a majority has changed the token of A's lock on one master:
// A is told that it has no lock.
func TestV8RefusedChangeOfToken(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.heldOnTwo()
		o := do(c.q, c.moveTo(Change{Key: "k", Token: "u", TTL: 40 * time.Second}))
		t.Log("transaction:", o.Verdict, o.Done, o.Changes, o.Err)
		time.Sleep(3 * time.Second)
		t.Log("t:", c.copies("k", "t"), "u:", c.copies("k", "u"))
		if o := do(c.q, extend("k", "t", 20*time.Second)); o.Verdict == Absent || o.Verdict == Held {
			t.Errorf("A, which holds k, is told 0: %v", o.Verdict)
		}
	})
}

// The same where it frees A's lock: B gets it while A was told that nothing was done.
func TestV8RefusedRelease(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.heldOnTwo()
		o := do(c.q, c.moveTo(Change{Key: "k", Delete: true}))
		t.Log("transaction:", o.Verdict, o.Done, o.Changes, o.Err)
		if o := do(c.q, acquire("k", "B", 20*time.Second)); o.Verdict == Won {
			t.Errorf("B gets k")
		}
	})
}

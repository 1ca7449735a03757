package quorum

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/tail"
)

// TestV11ChangeOfAnOldClientsLockIsNotKnown checks that what changes a lock that only the required
// master has is never told that nothing was done: it is done there, and no majority has it.
func TestV11ChangeOfAnOldClientsLockIsNotKnown(t *testing.T) {
	for name, op := range map[string]Op{
		"extend":         extend("k", "old", time.Minute),
		"extend to less": {Kind: Extend, Key: "k", Token: "old", TTL: second},
		"another token":  {Kind: Extend, Key: "k", Token: "old", TTL: second, Replace: true, NewToken: "new"},
		"EXPIRE":         {Kind: Expire, Key: "k", TTL: second},
		"SET XX":         {Kind: Store, Key: "k", Token: "new", TTL: second, IfPresent: true},
		"what reads it first": {Kind: Decide, Key: "k", Decide: func(s State) Op {
			return Op{Kind: Extend, Key: "k", Token: s.Token, TTL: second}
		}},
		"EXEC": {Kind: DecideAll, Key: "k", Keys: []string{"k"}, DecideAll: func([]State) []Change {
			return []Change{{Key: "k", Token: "new", TTL: second}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			movingIn(t, func(c *testCluster, old *fakeMaster) {
				old.oldTake("k", "old", 30*time.Second)
				o := c.want(do(c.q, op), Undecided)
				if !strings.HasSuffix(o.Err.Error(), "at the required master, but no majority has the lock") {
					t.Errorf("answered %q", o.Err)
				}
				if !old.Exists("k") {
					t.Error("the old client's lock is gone")
				}
			})
		})
	}
}

// TestV11OfTwoChangesNotBothAreRefused checks that of two clients that change a lock's token at one
// moment, through two instances, one is told that it may have: the required master has its token,
// and the others have the other one's.
func TestV11OfTwoChangesNotBothAreRefused(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		c.tell(do(c.q, acquire("k", "t", 30*time.Second)))
		synctest.Wait()
		for _, f := range c.masters[1:] {
			f.set(func() { // another instance's change has arrived here first
				e, _ := f.Get(0, "k")
				_, its := tail.Split(e.Value)
				e.Value = its.Of("theirs")
				f.Put(0, "k", e)
			})
		}
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: second, Replace: true, NewToken: "ours"}), Undecided)
		if o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held); o.State.Token != "ours" {
			t.Errorf("read %q, want the required master's token", o.State.Token)
		}
	})
}

// TestV15NotOverWhereTheRequiredMasterHasIt checks that a lock is not over as long as the required
// master has a living copy, where one of the others has an older one with the same token.
func TestV15NotOverWhereTheRequiredMasterHasIt(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		c.tell(do(c.q, acquire("k", "t", 30*time.Second)))
		synctest.Wait()
		for i, f := range c.masters[2:] {
			if i > 0 {
				f.Del("k")
				continue
			}
			f.set(func() {
				e, _ := f.Get(0, "k")
				token, its := tail.Split(e.Value)
				its.Lock, its.End = tail.NewID(), its.End-40000
				e.Value = its.Of(token)
				f.Put(0, "k", e)
			})
		}
		if o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held); o.State.TTL < 20*time.Second {
			t.Errorf("read %+v, want what is left at the required master", o.State)
		}
		c.want(do(c.q, release("k", "t")), Won)
	})
}

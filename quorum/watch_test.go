package quorum

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// TestS4ReadIsNoChange checks that an operation on several keys marks the watches on those
// that it changes, and not on those that it has only read (S4, why 145).
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

// TestS4SeenSinceIsAChange checks that a lock which a later read finds, and which was not there when
// the watch was armed, has changed the key, though another instance took it (S4, why 147).
func TestS4SeenSinceIsAChange(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		one, other := c.two()
		var w, same Watch
		defer w.Close()
		defer same.Close()
		c.want(do(other, Op{Kind: Read, Key: "k", Arm: &w}), Absent)
		c.want(do(other, Op{Kind: Read, Key: "k", Arm: &w}), Absent)
		c.want(do(one.Quorum, acquire("k", "t", 10*time.Second)), Won)
		synctest.Wait()
		for range 2 {
			c.want(do(other, Op{Kind: Read, Key: "k", Arm: &same}), Held)
		}
		if c.want(do(other, Op{Kind: Read, Key: "k", Arm: &w}), Held); !w.Changed() || same.Changed() {
			t.Errorf("changed: %v, and %v for who has seen it before", w.Changed(), same.Changed())
		}
	})
}

// TestS4TakenBackIsNoChange checks that a late grant which is taken back changes nothing of the lock
// that has followed it: its rollback deletes none of that (S4).
func TestS4TakenBackIsNoChange(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		late := c.want(do(c.q, acquire("k", "b", 10*time.Second)), Won)
		c.want(do(c.q, Op{Kind: Remove, Key: "k"}), Won)
		c.tell(do(c.q, acquire("k", "a", 10*time.Second)))
		var w Watch
		defer w.Close()
		c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &w}), Held)
		if late.Undo(); w.Changed() {
			t.Error("a's lock is changed by the end of b's")
		}
		op := release("k", "a")
		op.Unless = []*Watch{&w}
		c.want(do(c.q, op), Won)
	})
}

// TestS4KeptIsNoChange checks that what leaves a lock's token and TTL as they were, and only
// makes sure that they stay, is no change of a watched key (S4, V6, why 145).
func TestS4KeptIsNoChange(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, key := range []string{"j", "k"} {
			c.tell(do(c.q, acquire(key, "t", 10*time.Second)))
		}
		var w Watch
		defer w.Close()
		c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &w}), Held)
		c.tell(do(c.q, takeAndTell("t")))
		keep := Op{Kind: DecideAll, Keys: []string{"j", "k"}, DecideAll: func(s []State) []Change {
			return []Change{{Key: "j", Delete: true}, {Key: "k", Token: "t", TTL: s[1].TTL.Truncate(time.Millisecond), Keeps: true}}
		}}
		c.tell(do(c.q, keep))
		if w.Changed() {
			t.Error("changed by what has kept it")
		}
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 20 * time.Second}), Won)
		if !w.Changed() {
			t.Error("not changed by an extend")
		}
	})
}

// TestS4RenamedIsAChange checks that a token that changes is a change, though the TTL is kept
// (S4).
func TestS4RenamedIsAChange(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", 10*time.Second)))
		var one, several Watch
		defer one.Close()
		defer several.Close()
		c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &one}), Held)
		c.tell(do(c.q, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			return Op{Kind: Extend, Key: "k", Token: "t", NewToken: "u", Replace: true, TTL: s.TTL.Truncate(time.Millisecond), Keeps: true}
		}}))
		if !one.Changed() {
			t.Error("not changed by another token")
		}
		c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &several}), Held)
		c.tell(do(c.q, Op{Kind: DecideAll, Keys: []string{"k"}, DecideAll: func(s []State) []Change {
			return []Change{{Key: "k", Token: "v", TTL: s[0].TTL.Truncate(time.Millisecond), Keeps: true}}
		}}))
		if !several.Changed() {
			t.Error("not changed by another token beside others")
		}
	})
}

// TestS4StaleCopyIsNoChange checks that a copy that another change has missed, and that is met while
// an answer is awaited, makes nothing of a watched key changed: a quorum may still have its lock
// (S4). Storms, seed 5002510.
func TestS4StaleCopyIsNoChange(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for i, lock := range []tail.ID{2, 2, 1} {
			f := c.masters[i]
			its := tail.Tail{Lock: lock, Attempt: 5, End: f.Millis() + 60000}
			f.set(func() { f.Put(0, "k", fakeredis.Entry{Value: its.Of("t"), Expiry: f.Millis() + 61000}) })
		}
		var w Watch
		defer w.Close()
		c.slow(4*time.Millisecond, 2)
		c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &w}), Held)
		c.slow(0, 2)
		c.slow(4*time.Millisecond, 1)
		if o := c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &w}), Held); !w.Fits(o.State) || w.Changed() {
			t.Errorf("fits %v, changed %v", w.Fits(o.State), w.Changed())
		}
		c.want(do(c.q, Op{Kind: DecideAll, Keys: []string{"k"}, Unless: []*Watch{&w}, DecideAll: func([]State) []Change {
			return []Change{{Key: "k", Token: "u", TTL: 20 * time.Second}}
		}}), Won)
	})
}

// TestS4ForgottenIsNoChange checks that a master in quarantine, with a disk of before the lock that
// was watched, makes nothing of it changed: it may have had that (S4, M4).
func TestS4ForgottenIsNoChange(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		op := &Op{Kind: Read, Key: "k"}
		a := newAttempt(&call{q: c.q, db: c.q.keyspace(0), op: op}, op, nil)
		its := func(lock tail.ID) vote.Ballot {
			return vote.Ballot{Vote: vote.Found, Token: "t", Left: time.Second, Hold: time.Second, Tail: tail.Tail{Lock: lock, Attempt: lock}}
		}
		old := its(1)
		old.Doubtful = true
		w := Watch{locks: its(2).Tail.Lock.String(), armed: true}
		for name, tt := range map[string]struct {
			other vote.Ballot
			fits  bool
		}{"in quarantine": {old, true}, "voting": {its(1), false}} {
			copy(a.box.ballots, []vote.Ballot{its(2), tt.other, {Vote: vote.Absent}})
			if o := a.outcome(Held); !o.State.Found || w.Fits(o.State) != tt.fits {
				t.Errorf("the other copy is on a master %s: %+v fits %v", name, o.State, !tt.fits)
			}
		}
	})
}

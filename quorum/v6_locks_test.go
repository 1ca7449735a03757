package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/fakeredis"
	"github.com/redlockd/redlockd/quorum/outbox"
	"github.com/redlockd/redlockd/quorum/tail"
)

// V6: each try has an ID of its own, which is the lock of what it creates; what it stores over
// another copy has another lock, so that no rollback matches that. A renewal has its attempt's ID.
func TestV6IDsOfTries(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		try := func(op Op) *attempt { return newAttempt(&call{q: c.q, db: c.q.keyspace(0), op: &op}, &op, nil) }
		for _, op := range []Op{acquire("k", "t", time.Second), {Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: time.Second}} {
			if a := try(op); a.id == 0 || a.lock != a.id {
				t.Errorf("%v: lock %v, attempt %v", op.Kind, a.lock, a.id)
			}
		}
		for _, op := range []Op{{Kind: Store, Key: "k", Token: "t", TTL: time.Second}, {Kind: transact, Key: "k", TTL: time.Second, effects: []outbox.Effect{{Key: "k", Meets: outbox.Token, Token: "t", Does: outbox.Stores, New: "t"}}},
			{Kind: Extend, Key: "k", Token: "t", NewToken: "u", Replace: true, TTL: time.Second}} {
			if a := try(op); a.lock == a.id || a.lock == 0 {
				t.Errorf("%v over another copy: lock %v, attempt %v", op.Kind, a.lock, a.id)
			}
		}
		op := acquire("k", "t", time.Second)
		made := &call{q: c.q, db: c.q.keyspace(0), op: &op}
		first, second := newAttempt(made, &op, nil), newAttempt(made, &op, nil)
		if first.id == second.id {
			t.Error("a second try has the first one's ID")
		}
		if r := try(Op{Kind: Extend, Key: "k", Token: "t", TTL: time.Second, renews: first}); r.id != first.id {
			t.Error("a renewal has not its attempt's ID")
		}
	})
}

// S4: EXEC does nothing to another lock that has the token that was seen, and a read tells it from
// the one that was watched; what only prolongs that is no other lock.
func TestS4TokenThatHasComeBack(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		for _, back := range []bool{false, true} {
			for _, does := range []func(...*Watch) Op{
				func(w ...*Watch) Op { return Op{Kind: Extend, Key: "k", Token: "t", TTL: 20 * time.Second, Unless: w} },
				func(w ...*Watch) Op { return Op{Kind: Release, Key: "k", Token: "t", Unless: w} },
				func(w ...*Watch) Op {
					return Op{Kind: DecideAll, Keys: []string{"j", "k"}, Unless: w, DecideAll: func([]State) []Change {
						return []Change{{Key: "k", Token: "u", TTL: 20 * time.Second}}
					}}
				},
			} {
				var w Watch
				c.tell(do(other, acquire("k", "t", 20*time.Second)))
				c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &w}), Held)
				if back {
					c.want(do(other, release("k", "t")), Won)
					c.tell(do(other, acquire("k", "t", 20*time.Second)))
				} else {
					c.tell(do(other, Op{Kind: Extend, Key: "k", Token: "t", TTL: 30 * time.Second}))
				}
				if fits := w.Fits(c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held).State); fits == back {
					t.Errorf("comes back %v: a read finds the lock that was watched %v", back, fits)
				}
				op := does(&w)
				if o := do(c.q, op); (o.Verdict == Won) == back {
					t.Errorf("comes back %v: %v ends with %v, %v", back, op.Kind, o.Verdict, o.Err)
				}
				w.Close()
				for _, f := range c.masters {
					f.Del("k")
				}
			}
		}
	})
}

// V9: a lock is healed as the one that a quorum of its copies are, and where these are several
// locks as another one, which nobody deletes by what he met of those.
func TestV9HealsOneLock(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, locks := range [][]tail.ID{{1, 1}, {1, 2}} {
			for i, lock := range locks {
				f := c.masters[i]
				its := tail.Tail{Lock: lock, Attempt: 5, End: f.Millis() + 60000}
				f.set(func() { f.Put(0, "k", fakeredis.Entry{Value: its.Of("t"), Expiry: f.Millis() + 61000}) })
			}
			c.masters[2].Del("k")
			c.slow(4*time.Millisecond, 0, 1) // the "absent" comes first
			c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 90 * time.Second}), Won)
			c.slow(0, 0, 1)
			f := c.masters[2]
			f.Lock()
			e, healed := f.Get(0, "k")
			f.Unlock()
			if _, its := tail.Split(e.Value); !healed || (its.Lock == 1) != (locks[0] == locks[1]) || its.Lock == 2 || its.Bare() {
				t.Errorf("copies of the locks %v: the third is healed %v, %+v", locks, healed, its)
			}
		}
	})
}

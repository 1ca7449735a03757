package quorum

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/tail"
	"github.com/redlockd/redlockd/quorum/vote"
)

// TestV8MissedExtends checks that nothing is left of a lock on a master that missed an extend, or
// several, and then its release, a DEL, a change or a transaction, whatever became of these: its
// copy has another attempt than those that were met, but one that began before (V8, P5, why 49).
func TestV8MissedExtends(t *testing.T) {
	for name, free := range map[string]Op{
		"release": release("k", "t"), "remove": {Kind: Remove, Key: "k"}, "several": giveAll("t", "k", "l"),
		"change": {Kind: Extend, Key: "k", Token: "t", NewToken: "u", Replace: true, TTL: time.Minute},
	} {
		for _, missing := range []int{1, 2} {
			t.Run(name, func(t *testing.T) {
				inBubble(t, 3, func(c *testCluster) {
					c.tell(do(c.q, acquire("k", "t", time.Minute)))
					time.Sleep(time.Second)
					c.tell(do(c.q, extend("k", "t", time.Minute)))
					synctest.Wait()
					for _, f := range c.masters[3-missing:] {
						f.freeze()
					}
					time.Sleep(2 * time.Second)
					for range 2 {
						do(c.q, extend("k", "t", time.Minute))
						time.Sleep(100 * time.Millisecond)
					}
					o := do(c.q, free)
					time.Sleep(time.Second)
					for _, f := range c.masters {
						f.thaw()
					}
					time.Sleep(3 * time.Second)
					if n := c.copies("k", "t"); n > 0 && (o.Verdict == Won || free.Kind == Release) {
						t.Errorf("%d masters away, %v: %d copies are left", missing, o.Verdict, n)
					}
				})
			})
		}
	}
}

// TestV8NotWhatWasGivenSince checks that a repeat leaves a copy that was given to somebody since,
// though it has the lock that was deleted: A counts on it (V8, why 48).
func TestV8NotWhatWasGivenSince(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		way := c.owesDel(acquire("k", "t", time.Minute), extend("k", "t", time.Minute)) // by C, who owes it to m3
		time.Sleep(200 * time.Millisecond)
		c.masters[1].freeze()
		op := extend("k", "t", 20*time.Second)
		op.Kind = AcquireOrExtend
		c.tell(do(c.q, op)) // A's, at m1 and m3
		way.cut(false)
		time.Sleep(4 * time.Second)
		c.masters[1].thaw()
		if f := c.masters[2]; f.holds("k") != "t" {
			t.Error("the copy that A counts on is deleted")
		}
		time.Sleep(time.Second)
		c.want(do(c.q, acquire("k", "B", time.Second)), Held)
	})
}

// TestV6ShortensLateAnswersToo checks that no copy outlasts what the client asked for, where all
// masters are well: also on those for whose answer an extend to less has not waited (V6).
func TestV6ShortensLateAnswersToo(t *testing.T) {
	for _, kind := range []Kind{Extend, AcquireOrExtend} {
		inBubble(t, 5, func(c *testCluster) {
			c.tell(do(c.q, acquire("k", "t", time.Minute)))
			synctest.Wait()
			c.slow(3*time.Millisecond, 3, 4)
			op := extend("k", "t", time.Second)
			op.Kind = kind
			c.tell(do(c.q, op))
			time.Sleep(50 * time.Millisecond)
			for _, f := range c.masters {
				if left := f.TTL("k"); left > 2*time.Second {
					t.Errorf("%v: %v are left on %s", kind, left, f.Name)
				}
			}
		})
	}
}

// TestV8StoreIsNotRepeated checks that what a master has missed of a plain store is not done again, as
// it is of a change of token: it was for no lock in particular (V8).
func TestV8StoreIsNotRepeated(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		change := Op{Kind: Extend, Key: "k", Token: "t", NewToken: "u", Replace: true, TTL: time.Minute}
		for want, op := range []Op{{Kind: Store, Key: "k", Token: "u", TTL: time.Minute}, change} {
			a := newAttempt(&call{q: c.q, db: c.q.keyspace(0), op: &op}, &op, nil)
			a.won = true
			for i := range a.box.ballots {
				a.box.ballots[i] = vote.Ballot{Vote: vote.Prolonged, Tail: tail.Tail{Lock: 1, Attempt: 1}}
			}
			if got := len(a.repeats()); got != want {
				t.Errorf("%v: %d repeats, want %d", op.Kind, got, want)
			}
		}
	})
}

package quorum

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/tail"
)

// TestV15OverByAMajority checks that a lock is over where a majority of its copies are, though a
// master still has one that somebody's lost extend has prolonged (V10, V15).
func TestV15OverByAMajority(t *testing.T) {
	for name, ask := range map[string]Op{"read": {Kind: Read, Key: "k"}, "release": release("k", "t"), "extend": extend("k", "t", second)} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 5, func(c *testCluster) {
				c.tell(do(c.q, acquire("k", "t", second)))
				synctest.Wait()
				f := c.masters[4]
				f.set(func() {
					e, _ := f.Get(0, "k")
					token, its := tail.Split(e.Value)
					its.End += 20000
					e.Value, e.Expiry = its.Of(token), e.Expiry+20000
					f.Put(0, "k", e)
				})
				c.untilOver(second)
				c.want(do(c.q, ask), Absent)
			})
		})
	}
}

// TestV15OthersHearUntilWhenItIsHeld checks that who waits for a lock that is over is told of the
// time until its copies end, and not of a millisecond (V15).
func TestV15OthersHearUntilWhenItIsHeld(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		const ttl = 60 * second
		c.tell(do(c.q, acquire("k", "t", ttl)))
		c.untilOver(ttl)
		var met State
		do(c.q, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			met = s
			return Op{Kind: Read}
		}})
		if !met.Lapsed || met.Found || met.TTL < 500*time.Millisecond || met.TTL > 700*time.Millisecond {
			t.Fatalf("it has read %+v", met)
		}
		c.want(do(c.q, acquire("k", "u", second)), Held)
		time.Sleep(met.TTL + time.Millisecond)
		c.want(do(c.q, acquire("k", "u", second)), Won)
	})
}

// TestV8ReleasedWhenItWasOver checks that a release that was answered as for an absent key, as the
// lock was over, is repeated on the master that missed it, too (V8, V15).
func TestV8ReleasedWhenItWasOver(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		const ttl = 300 * second // its copies last 3 s longer
		c.tell(do(c.q, acquire("k", "t", ttl)))
		synctest.Wait()
		c.untilOver(ttl)
		f := c.masters[2]
		f.refuse("BUSY Redis is busy running a script.")
		c.want(do(c.q, release("k", "t")), Absent)
		synctest.Wait()
		f.refuse("")
		time.Sleep(2 * second)
		if f.holds("k") != "" {
			t.Errorf("a copy is left for %v", f.TTL("k"))
		}
	})
}

// TestV15OverInATransaction checks that a transaction meets a lock that is over as it is: who stores
// its token has it for the whole TTL, and who deletes it frees it, beside what is done to other keys.
func TestV15OverInATransaction(t *testing.T) {
	for name, change := range map[string]Change{"taken": {Key: "k", Token: "t", TTL: 20 * second}, "deleted": {Key: "k", Delete: true}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.tell(do(c.q, acquire("k", "t", second)))
				c.untilOver(second)
				c.want(do(c.q, Op{Kind: DecideAll, Key: "k", Keys: []string{"k", "l"}, DecideAll: func(s []State) []Change {
					if !s[0].Lapsed || s[0].Token != "t" {
						t.Errorf("it has read %+v", s[0])
					}
					return []Change{change, {Key: "l", Token: "t", TTL: 20 * second}}
				}}), Won)
				want := Won
				if !change.Delete {
					time.Sleep(19 * second)
					want = Held
				}
				c.want(do(c.q, acquire("k", "u", second)), want)
				c.want(do(c.q, acquire("l", "u", second)), Held)
			})
		})
	}
}

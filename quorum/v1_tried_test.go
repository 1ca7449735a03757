package quorum

import (
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// overwrite gives a key to another client on some masters, as an overwriting command through
// another instance does.
func (c *testCluster) overwrite(key, token string, masters ...int) {
	for _, i := range masters {
		c.masters[i].Set(key, token)
		c.masters[i].SetTTL(key, time.Minute)
	}
}

// losesAnswer breaks the connections to a master as soon as it has done something; it can be
// reached again at once.
func (c *testCluster) losesAnswer(master int, done func(f *fakeMaster) bool) {
	f := c.masters[master]
	for !done(f) {
		time.Sleep(10 * time.Microsecond)
	}
	f.kill()
	f.mend()
}

// TestV1RaisedBeforeItWasRefused checks that a client is not told that nothing was done where
// the first of two attempts has prolonged its lock, and the second is refused (V1, P4, why 11).
func TestV1RaisedBeforeItWasRefused(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", time.Minute)))
		c.tell(do(c.q, acquire("j", "t", 10*time.Second)))
		time.Sleep(time.Second)
		c.slow(time.Millisecond, 0, 1, 2)
		go func() {
			for i := range c.masters {
				for c.masters[i].TTL("j") < 20*time.Second {
					time.Sleep(10 * time.Microsecond)
				}
			}
			c.overwrite("k", "C", 0, 1, 2)
		}()
		c.want(do(c.q, Op{Kind: DecideAll, Keys: []string{"j", "k"}, DecideAll: func(s []State) []Change {
			if s[1].Token != "t" {
				return nil // the reply is 0
			}
			return []Change{{Key: "j", Token: "t", TTL: 40 * time.Second}, {Key: "k", Delete: true}}
		}}), Undecided)
	})
}

// TestV1TriedAgainAfterItMayHaveFreed checks that a client is not told that it had no locks
// where a try, of which one answer was lost, has freed them itself (V1, P4, why 12).
func TestV1TriedAgainAfterItMayHaveFreed(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		keys := []string{"j", "k"}
		for _, key := range keys {
			c.tell(do(c.q, acquire(key, "t", time.Minute)))
		}
		time.Sleep(time.Second)
		for _, key := range keys {
			c.masters[2].Del(key)
		}
		c.slow(time.Millisecond, 0, 2)
		c.slow(10*time.Millisecond, 1)
		go func() {
			for c.masters[0].holds("j") != "" {
				time.Sleep(10 * time.Microsecond)
			}
			c.masters[1].kill()
		}()
		c.want(do(c.q, Op{Kind: DecideAll, Keys: keys, DecideAll: func(s []State) []Change {
			if s[0].Token != "t" || s[1].Token != "t" {
				return nil // the reply is 0
			}
			return []Change{{Key: "j", Delete: true}, {Key: "k", Delete: true}}
		}}), Undecided)
	})
}

// TestV1FreedOnOneMaster checks the same where there is no time for another try, and where
// the next ones are refused everywhere: the locks are free on the one master where nobody had
// changed them.
func TestV1FreedOnOneMaster(t *testing.T) {
	for _, budget := range []time.Duration{0, 200 * time.Millisecond} {
		for _, looks := range []bool{true, false} {
			inBubble(t, 3, func(c *testCluster) {
				c.q.cfg.RetryBudget = budget
				keys := []string{"j", "k"}
				for _, key := range keys {
					c.tell(do(c.q, acquire(key, "t", time.Minute)))
				}
				time.Sleep(time.Second)
				tries := 0
				c.want(do(c.q, Op{Kind: DecideAll, Keys: keys, DecideAll: func(s []State) []Change {
					if looks && s[1].Token != "t" {
						return nil // the reply is 0
					}
					tries++
					c.overwrite("k", fmt.Sprint("C", tries), 1, 2) // after the read
					return []Change{{Key: "j", Delete: true}, {Key: "k", Delete: true}}
				}}), Undecided)
				if got := c.masters[0].holds("j"); got != "" {
					t.Errorf("j is still %q", got)
				}
			})
		}
	}
}

// TestV1FreedWithoutAnAnswer checks that a client is not told that nothing was done where the
// answer of the master that has freed its lock was lost, and the others refused (V1, P4, why
// 12).
func TestV1FreedWithoutAnAnswer(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, key := range []string{"j", "k"} {
			c.tell(do(c.q, acquire(key, "t", time.Minute)))
		}
		time.Sleep(time.Second)
		c.masters[2].Del("j")
		c.slow(time.Millisecond, 0, 1, 2)
		go c.losesAnswer(0, func(f *fakeMaster) bool { return f.holds("j") == "" })
		c.want(do(c.q, Op{Kind: DecideAll, Keys: []string{"j", "k"}, DecideAll: func(s []State) []Change {
			if s[0].Token != "t" || s[1].Token != "t" {
				return nil // the reply is 0
			}
			c.overwrite("k", "C", 1, 2)
			return []Change{{Key: "j", Delete: true}, {Key: "k", Delete: true}}
		}}), Undecided)
		if n := c.copies("j", "t"); n != 1 {
			t.Errorf("%d copies of j are left", n)
		}
	})
}

// TestV1StoredWithoutAnAnswer checks that a client is not told that nothing was done where a
// majority may have stored its lock, which another client has read, and given away since (V1, P4,
// why 12).
func TestV1StoredWithoutAnAnswer(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", time.Minute)))
		time.Sleep(time.Second)
		c.masters[2].Del("k")
		c.slow(time.Millisecond, 0, 1, 2)
		go c.losesAnswer(1, func(f *fakeMaster) bool {
			if c.masters[0].holds("j") != "t" || f.holds("j") != "t" {
				return false
			}
			c.overwrite("j", "C", 0, 1)
			return true
		})
		c.want(do(c.q, Op{Kind: DecideAll, Keys: []string{"j", "k"}, DecideAll: func(s []State) []Change {
			if s[0].Found {
				return nil // the reply is null
			}
			return []Change{{Key: "j", Token: "t", TTL: 10 * time.Second}}
		}}), Undecided)
		if n := c.copies("j", "C"); n < 2 {
			t.Errorf("C has %d copies", n)
		}
	})
}

// TestV1RaisedWithoutAnAnswer checks that a client is not told that nothing was done where a
// majority may have prolonged its lock (V1, P4, why 11).
func TestV1RaisedWithoutAnAnswer(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("j", "t", 10*time.Second)))
		time.Sleep(time.Second)
		c.slow(time.Millisecond, 0, 1, 2)
		go c.losesAnswer(1, func(f *fakeMaster) bool { return f.TTL("j") > 20*time.Second })
		tries := 0
		c.want(do(c.q, Op{Kind: DecideAll, Keys: []string{"j", "k"}, DecideAll: func(s []State) []Change {
			if s[1].Found {
				return nil // the reply is 0
			}
			if tries++; tries == 1 {
				c.overwrite("k", "C", 2)
				time.AfterFunc(20*time.Millisecond, func() { c.overwrite("k", "C", 0, 1) })
			}
			return []Change{{Key: "j", Token: "t", TTL: 40 * time.Second}, {Key: "k", Token: "t", TTL: 10 * time.Second}}
		}}), Undecided)
		for i, f := range c.masters[:2] {
			if left := f.TTL("j"); left < 20*time.Second {
				t.Errorf("master %d was not prolonged: %v", i, left)
			}
		}
	})
}

// TestV1ChangedAfterItWasTried checks that EXEC does not answer that nothing was done, since a
// watched key changed, where an earlier try may have freed locks (V1, S4, why 12).
func TestV1ChangedAfterItWasTried(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, key := range []string{"j", "k"} {
			c.tell(do(c.q, acquire(key, "t", time.Minute)))
		}
		time.Sleep(time.Second)
		for _, key := range []string{"j", "k"} {
			c.masters[2].Del(key)
		}
		c.slow(time.Millisecond, 0, 1, 2)
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 2 * time.Minute}), Won)
		var w Watch
		c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &w}), Held)
		c.masters[2].Del("k") // the extend has healed it
		c.slow(10*time.Millisecond, 1)
		go c.losesAnswer(1, func(*fakeMaster) bool { return c.masters[0].holds("j") == "" })
		c.want(do(c.q, Op{Kind: DecideAll, Keys: []string{"j", "k"}, Unless: []*Watch{&w}, DecideAll: func([]State) []Change {
			w.changed.Store(true)
			return []Change{{Key: "j", Delete: true}, {Key: "k", Delete: true}}
		}}), Undecided)
	})
}

// TestV1TriedOnOneKey checks that who takes its name out of a value is not told that it was not
// in, though an earlier try has taken it out on a majority: the required master refused that
// one, and has what it stored when the key is read again (V1, why 12).
func TestV1TriedOnOneKey(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.Masters[0].Required = true }, func(c *testCluster) {
		c.overwrite("k", "a,b", 0, 1, 2)
		o := do(c.q, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			if s.Token != "a,b" {
				return Op{Kind: Read}
			}
			c.overwrite("k", "c", 0) // by a client that uses the old Redis itself
			time.AfterFunc(time.Millisecond, func() { c.overwrite("k", "b", 0) })
			return Op{Kind: Extend, Key: "k", Token: "a,b", Replace: true, NewToken: "b", TTL: time.Minute}
		}})
		if c.want(o, Undecided); c.copies("k", "b") != 3 {
			t.Errorf("%d copies", c.copies("k", "b"))
		}
	})
}

// TestV1TriedToFreeOneKey is the same for who is the last one in and deletes the key, while
// somebody else joins on the other half of the masters.
func TestV1TriedToFreeOneKey(t *testing.T) {
	inBubble(t, 4, func(c *testCluster) {
		c.overwrite("k", "a", 0, 1, 2, 3)
		c.want(do(c.q, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			if s.Token != "a" {
				return Op{Kind: Read}
			}
			c.overwrite("k", "a,b", 2, 3)
			return release("k", "a")
		}}), Undecided)
	})
}

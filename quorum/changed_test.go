package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// replaceBy changes a lock's token, in two ways.
func replaceBy(key, from, to string, ttl time.Duration) []Op {
	all := Op{Kind: DecideAll, Keys: []string{key}, DecideAll: func([]State) []Change {
		return []Change{{Key: key, Token: to, TTL: ttl}}
	}}
	return []Op{{Kind: Extend, Key: key, Token: from, NewToken: to, Replace: true, TTL: ttl}, all}
}

// V8: a change of token that one master has missed is made there when it is back:
// then another one may freeze.
func TestV8ChangeIsRepeated(t *testing.T) {
	for way := range replaceBy("", "", "", 0) {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
			synctest.Wait()
			c.masters[2].freeze()
			time.Sleep(3 * time.Second)
			c.want(do(c.q, replaceBy("k", "A", "B", 20*time.Second)[way]), Won)
			c.want(do(c.q, replaceBy("k", "B", "C", 20*time.Second)[way]), Won)
			c.masters[2].thaw()
			time.Sleep(3 * time.Second)
			if got := c.masters[2].holds("k"); got != "C" {
				t.Errorf("the master that was away holds %q, want C", got)
			}
			if left := c.masters[2].TTL("k"); left < 13*time.Second {
				t.Errorf("for %v", left)
			}
			c.masters[0].freeze()
			time.Sleep(time.Second)
			c.want(do(c.q, extend("k", "C", 20*time.Second)), Won)
			if o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held); o.State.Token != "C" {
				t.Errorf("read %q", o.State.Token)
			}
			c.want(do(c.q, release("k", "C")), Won)
		})
	}
}

// missed carries an operation on A's lock out while a master stands still, and lets that
// come back.
func (c *testCluster) missed(op Op) {
	c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
	synctest.Wait()
	c.masters[2].freeze()
	c.want(do(c.q, op), Won)
	time.Sleep(time.Second)
	c.masters[2].thaw()
	time.Sleep(3 * time.Second)
}

// V8: also what was not answered at the verdict.
func TestV8ChangeWithoutAnAnswer(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.missed(replaceBy("k", "A", "B", 20*time.Second)[0])
		if n := c.copies("k", "B"); n != 3 {
			t.Errorf("%d copies, want 3", n)
		}
	})
}

// V8: also where the master is so slow at first that the change comes to it behind its
// deadline.
func TestV8ChangeThatComesLateIsRepeated(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
		synctest.Wait()
		c.slow(4*c.cfg.Timeout, 2)
		c.want(do(c.q, replaceBy("k", "A", "B", 20*time.Second)[0]), Won)
		time.Sleep(time.Second)
		c.slow(0, 2)
		time.Sleep(3 * time.Second)
		if n := c.copies("k", "B"); n != 3 {
			t.Errorf("%d copies, want 3", n)
		}
	})
}

// V8: the release that comes after a change goes behind it, and what takes the
// lock again with the old token is not changed.
func TestV8ChangeAndWhatComesAfter(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
		c.want(do(c.q, acquire("l", "A", 20*time.Second)), Won)
		synctest.Wait()
		c.masters[2].freeze()
		time.Sleep(3 * time.Second)
		c.want(do(c.q, replaceBy("k", "A", "B", 20*time.Second)[0]), Won)
		c.want(do(c.q, replaceBy("l", "A", "B", 20*time.Second)[0]), Won)
		c.want(do(c.q, release("k", "B")), Won)
		c.want(do(c.q, release("l", "B")), Won)
		c.want(do(c.q, acquire("l", "A", 20*time.Second)), Won)
		c.masters[2].thaw()
		time.Sleep(3 * time.Second)
		if n := c.copies("k", "A") + c.copies("k", "B"); n != 0 {
			t.Errorf("%d copies are left of what was released", n)
		}
		if n := c.copies("l", "A"); n < 2 || c.copies("l", "B") > 0 {
			t.Errorf("%d copies of the lock that was taken again", n)
		}
	})
}

// V8: what EXEC or a script has deleted on several keys is released on a master
// that was silent.
func TestV8DeletesOfATransactionAreRepeated(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, takeAll("A", 20*time.Second, "k", "l")), Won)
		synctest.Wait()
		c.masters[2].freeze()
		time.Sleep(3 * time.Second)
		c.want(do(c.q, giveAll("A", "k", "l")), Won)
		c.masters[2].thaw()
		time.Sleep(3 * time.Second)
		if n := c.copies("k", "A") + c.copies("l", "A"); n != 0 {
			t.Errorf("%d copies are left of what was deleted", n)
		}
	})
}

// V8: a lock that was deleted without its token is released on the masters that
// missed it: one that was frozen, and is back while others lack it, does not give the
// lock to anybody again.
func TestV8RemoveIsRepeated(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.missed(Op{Kind: Remove, Key: "k"})
		if n := c.copies("k", "A"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
	})
}

// V8: what fewer than a quorum had may be an acquire under way, and its other copies are
// spared.
func TestV8RemoveSparesWhatNoQuorumHad(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.masters[0].Set("k", "A")
		c.masters[0].SetTTL("k", 20*time.Second)
		c.masters[4].Set("k", "A")
		c.masters[4].SetTTL("k", 20*time.Second)
		c.masters[3].freeze()
		c.masters[4].freeze()
		c.want(do(c.q, Op{Kind: Remove, Key: "k"}), Won)
		c.masters[3].thaw()
		c.masters[4].thaw()
		time.Sleep(3 * time.Second)
		if c.masters[4].holds("k") != "A" {
			t.Error("a copy that the Remove had not met is gone")
		}
	})
}

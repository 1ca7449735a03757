package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// replaceBy returns two operations that change a lock's token: an Extend and a
// DecideAll.
func replaceBy(key, from, to string, ttl time.Duration) []Op {
	all := Op{Kind: DecideAll, Keys: []string{key}, DecideAll: func([]State) []Change {
		return []Change{{Key: key, Token: to, TTL: ttl}}
	}}
	return []Op{{Kind: Extend, Key: key, Token: from, NewToken: to, Replace: true, TTL: ttl}, all}
}

// TestV8ChangeIsRepeated checks that a change of token that one master has missed is
// made there when it is back, so that another master may freeze then (V8).
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

// missed acquires a lock for A, carries out op while a master is frozen, and thaws it.
func (c *testCluster) missed(op Op) {
	c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
	synctest.Wait()
	c.masters[2].freeze()
	c.want(do(c.q, op), Won)
	time.Sleep(time.Second)
	c.masters[2].thaw()
	time.Sleep(3 * time.Second)
}

// TestV8ChangeWithoutAnAnswer checks that a change of token is also made on a master
// that had not answered at the verdict (V8).
func TestV8ChangeWithoutAnAnswer(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.missed(replaceBy("k", "A", "B", 20*time.Second)[0])
		if n := c.copies("k", "B"); n != 3 {
			t.Errorf("%d copies, want 3", n)
		}
	})
}

// TestV8ChangeThatComesLateIsRepeated checks that a change of token is also made on a
// master that was so slow that the repeated change arrived after its deadline (V8).
func TestV8ChangeThatComesLateIsRepeated(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
		synctest.Wait()
		c.slow(4*c.cfg.Timeout, 2)
		c.want(do(c.q, replaceBy("k", "A", "B", 20*time.Second)[0]), Won)
		time.Sleep(4 * time.Second)
		c.slow(0, 2)
		time.Sleep(3 * time.Second)
		if n := c.copies("k", "B"); n != 3 {
			t.Errorf("%d copies, want 3", n)
		}
	})
}

// TestV8ChangeAndWhatComesAfter checks that a release that follows a change is sent
// after the repeated change, and a lock taken again with the old token is not changed
// (V8).
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

// TestV8DeletesOfATransactionAreRepeated checks that keys that EXEC or a script has
// deleted are released on a master that was silent (V8).
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

// TestV8RemoveIsRepeated checks that a lock that was deleted without its token is
// released on the masters that missed it (V8). If other masters lack it later, the copy
// on one that was frozen must not refuse the next client.
func TestV8RemoveIsRepeated(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.missed(Op{Kind: Remove, Key: "k"})
		if n := c.copies("k", "A"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
	})
}

// TestV8RemoveSparesWhatNoQuorumHad checks that a Remove does not release copies of a
// lock that it met on fewer than a quorum, since an acquire of that lock may be under
// way (V8).
func TestV8RemoveSparesWhatNoQuorumHad(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
		synctest.Wait() // until all masters have it
		for _, f := range c.masters[1:4] {
			f.Del("k") // as if these had not been asked yet
		}
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

// TestV8RepeatedDelLeavesWhatIsTakenSince checks that what repeats a DEL on a master that
// was out of reach leaves a lock that its owner has taken since, through another instance
// and with the same token (V8).
func TestV8RepeatedDelLeavesWhatIsTakenSince(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		two, ways := c.redlockdOver(c.cfg.Masters)
		c.want(do(c.q, acquire("k", "A", 10*time.Second)), Won)
		ways["c"].leads(noRoute)
		time.Sleep(time.Second)
		c.want(do(two, Op{Kind: Remove, Key: "k"}), Won)
		again := acquire("k", "A", 30*time.Second)
		again.Kind = AcquireOrExtend
		c.want(do(c.q, again), Won)
		ways["c"].leads(c.masters[2].dial)
		time.Sleep(5 * time.Second)
		if n := c.copies("k", "A"); n != 3 {
			t.Errorf("%d masters have the lock, want 3", n)
		}
		c.stop(two)
	})
}

// TestV8OwedChangeAndADel checks that what R2 has yet to repeat, of a change of token and of a DEL
// after it, deletes no copy that R1 has made, or counted, since (V8).
func TestV8OwedChangeAndADel(t *testing.T) {
	for _, away := range []time.Duration{0, 3 * time.Second} {
		inBubble(t, 3, func(c *testCluster) {
			other, way := c.redlockdThrough(2)
			c.tell(do(other, acquire("k", "t", time.Minute)))
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
			way.cut(true)
			synctest.Wait()
			time.Sleep(away)
			o := c.want(do(other, replaceBy("k", "t", "u", time.Minute)[0]), Won)
			c.tell(o)
			c.want(do(other, Op{Kind: Remove, Key: "k"}), Won) // B's DEL
			time.Sleep(time.Second)
			c.tell(do(c.q, acquire("k", "t", 5*time.Second))) // A does not know, and takes it again
			synctest.Wait()
			time.Sleep(time.Second)
			a := c.masters[0]
			a.freeze()
			time.Sleep(60 * time.Millisecond)
			told := time.Now()
			c.tell(do(c.q, extend("k", "t", 20*time.Second)))
			time.Sleep(300 * time.Millisecond)
			a.thaw()
			way.cut(false)
			time.Sleep(6 * time.Second)
			if o := do(c.q, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Errorf("away for %v: B has the lock %v before A's TTL is over", away, 20*time.Second-time.Since(told))
			}
		})
	}
}

// TestV8ChangeThatFailsAndOneThatIsRefused checks that of two changes of a token the second one
// reaches a master that refuses it, because the first one is yet to be repeated there (V8).
func TestV8ChangeThatFailsAndOneThatIsRefused(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		f := c.masters[2]
		f.refuse("BUSY a script is running")
		c.tell(do(c.q, replaceBy("k", "A", "B", 20*time.Second)[0]))
		time.Sleep(100 * time.Millisecond)
		f.refuse("")
		c.tell(do(c.q, replaceBy("k", "B", "C", 20*time.Second)[0]))
		time.Sleep(3 * time.Second)
		if got := f.holds("k"); got != "C" {
			t.Errorf("the master that was busy holds %q, want C", got)
		}
		c.masters[0].freeze()
		time.Sleep(100 * time.Millisecond)
		if o := do(c.q, extend("k", "C", 20*time.Second)); o.Verdict != Won {
			t.Errorf("extend is %v: %v", o.Verdict, o.Err)
		}
	})
}

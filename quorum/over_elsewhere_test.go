package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestV15NotOverByWhatWasReadElsewhere checks that a lock is not over by what R1 gave it, if A was
// told at R2 that it is prolonged by just the time that R2 had read (V15).
func TestV15NotOverByWhatWasReadElsewhere(t *testing.T) {
	const ttl = 300 * time.Second
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(5 * time.Second)
		c.tell(do(c.q, acquire("k", "t", ttl)))
		c.tell(do(c.q, extend("k", "t", ttl)))
		synctest.Wait()
		time.Sleep(200 * time.Second)
		left := c.want(do(other, Op{Kind: Read, Key: "k"}), Held).State.TTL.Truncate(time.Millisecond) // PTTL
		told := time.Now()
		c.tell(do(other, Op{Kind: Decide, Key: "k", Decide: func(s State) Op { return extend("k", s.Token, left) }})) // GETEX k PX left
		time.Sleep(100*time.Second + 500*time.Millisecond)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		if o := do(c.q, extend("k", "t", time.Second)); o.Verdict != Won {
			t.Errorf("A's extend %v before its end is %v", left-time.Since(told), o.Verdict)
		}
		if o := do(other, acquire("k", "B", time.Second)); o.Verdict == Won {
			t.Errorf("B has the lock %v before A's TTL is over", left-time.Since(told))
		}
	})
}

// TestV15NotOverByWhatWasEnoughElsewhere checks that a lock is not over by what R1 gave it, if A was
// told at R2, by a script that prolongs its lock to at least 101 s, that so much is left (V15, V6).
func TestV15NotOverByWhatWasEnoughElsewhere(t *testing.T) {
	const ttl, least = 300 * time.Second, 101 * time.Second
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(5 * time.Second)
		c.tell(do(c.q, acquire("k", "t", ttl)))
		c.tell(do(c.q, extend("k", "t", ttl)))
		synctest.Wait()
		time.Sleep(200 * time.Second)
		told := time.Now()
		// As commands.prolongToAtLeast ("enough is left").
		c.tell(do(other, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			if s.TTL < least {
				return extend("k", "t", least)
			}
			return keep("k", s)
		}}))
		time.Sleep(100*time.Second + 500*time.Millisecond)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		if o := do(c.q, extend("k", "t", time.Second)); o.Verdict != Won {
			t.Errorf("A's extend %v before its end is %v", least-time.Since(told), o.Verdict)
		}
		if o := do(other, acquire("k", "B", time.Second)); o.Verdict == Won {
			t.Errorf("B has the lock %v before A's TTL is over", least-time.Since(told))
		}
	})
}

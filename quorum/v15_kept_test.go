package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestV15OverThoughItWasKept checks that a lock is over after its TTL, which a command has kept
// (V15, why 61).
func TestV15OverThoughItWasKept(t *testing.T) {
	for i := range 8 {
		prolonged, several := i == 7, i%2 == 1
		inBubble(t, 3, func(c *testCluster) {
			const ttl = 5 * time.Minute
			time.Sleep(time.Duration(i) * 9 * time.Millisecond)
			c.tell(do(c.q, acquire("k", "t", ttl)))
			if prolonged {
				c.tell(do(c.q, extend("k", "t", ttl)))
			}
			synctest.Wait()
			time.Sleep(200 * time.Second)
			if several {
				c.tell(do(c.q, keepsAll("k", "t", "t")))
			} else {
				c.tell(do(c.q, Op{Kind: Decide, Key: "k", Decide: func(s State) Op { return keep("k", s) }}))
			}
			time.Sleep(100*time.Second + 60*time.Millisecond)
			if o := do(c.q, release("k", "t")); o.Verdict != Absent {
				t.Errorf("%d, prolonged %v, several %v: its TTL is over, and the release is %v", i, prolonged, several, o.Verdict)
			}
		})
	}
}

// TestV15NotOverByWhatAnotherGave checks that a lock is not over by the last TTL that R1 was asked to
// raise it to, if its copies have kept a later expiry which R2 has given since R1 read it (V15,
// why 67).
func TestV15NotOverByWhatAnotherGave(t *testing.T) {
	for _, several := range []bool{false, true} {
		for at := 101900 * time.Millisecond; at < 102020*time.Millisecond; at += 40 * time.Millisecond {
			inBubble(t, 3, func(c *testCluster) {
				one, other := c.two()
				c.tell(do(one.Quorum, acquire("k", "t", 5*time.Minute)))
				synctest.Wait()
				time.Sleep(200 * time.Second)
				one.farther(15 * time.Millisecond)
				out := start(one.Quorum, raiseTo(101*time.Second, several))
				time.Sleep(20 * time.Millisecond)
				told := time.Now()
				c.tell(do(other, extend("k", "t", at)))
				o := <-out
				if o.Verdict == Held {
					return // a look came first, so that R1 has read what R2 gave
				}
				c.tell(o)
				one.farther(0)
				time.Sleep(time.Until(told.Add(at - 10*time.Millisecond)))
				if o := do(one.Quorum, release("k", "t")); o.Verdict != Won {
					t.Errorf("several %v: extended for %v elsewhere: %v", several, at, o.Verdict)
				}
			})
		}
	}
}

// TestV15NotOverByARenewalOfLess checks that a lock that was extended over another session, before
// the reply to its acquire left, is not over by the renewal of the acquire (V15, V2, why 17): it
// is not the acquire's any more, which is told NOQUORUM, and no rollback of it takes the lock.
func TestV15NotOverByARenewalOfLess(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		o := c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		time.Sleep(c.cfg.Timeout + time.Millisecond)
		c.tell(do(c.q, extend("k", "t", time.Minute)))
		renew(o)
		if _, err := o.Confirm(o.Clock()); err == nil {
			t.Error("the acquire is told, though the lock was told to last longer since")
		}
		c.untilOver(10 * time.Second)
		if o := do(c.q, extend("k", "t", time.Minute)); o.Verdict != Won {
			t.Errorf("it was extended to a minute, and after 10s the next extend is %v", o.Verdict)
		}
	})
}

// V15: a lock whose token was changed is not over by the grant before the last one, whose
// expiries the masters have kept, while the reply to the last one has not left.
func TestV15ChangedBeforeTheReplyLeft(t *testing.T) {
	const ttl = 95 * time.Millisecond
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", 500*time.Millisecond)))
		c.tell(do(c.q, extend("k", "t", second)))
		time.Sleep(900 * time.Millisecond)
		o := c.want(do(c.q, extend("k", "t", ttl)), Won)
		time.Sleep(c.cfg.Timeout - 10*time.Millisecond)
		// Over another session: its reply leaves first.
		c.tell(do(c.q, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			return Op{Kind: Extend, Key: "k", Token: "t", Replace: true, NewToken: "u", TTL: s.TTL.Truncate(time.Millisecond), Keeps: true}
		}}))
		c.tell(o)
		time.Sleep(ttl - 10*time.Millisecond)
		c.want(do(c.q, extend("k", "u", second)), Won)
	})
}
func raiseTo(ttl time.Duration, several bool) Op {
	if several {
		return Op{Kind: DecideAll, Keys: []string{"k", "l"}, DecideAll: func(s []State) []Change {
			if s[0].TTL >= ttl {
				return nil
			}
			return []Change{{Key: "k", Token: "t", TTL: ttl}}
		}}
	}
	return Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
		if s.TTL >= ttl {
			return Op{Kind: Read}
		}
		return extend("k", "t", ttl)
	}}
}

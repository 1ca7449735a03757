package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

const overTTL = 2 * time.Minute

// endsNow takes k and lets its TTL end, so long ago that only a client whose clock is slower can
// still count on it.
func (c *testCluster) endsNow(late time.Duration) {
	c.t.Helper()
	c.tell(do(c.q, acquire("k", "t", overTTL)))
	synctest.Wait()
	time.Sleep(overTTL + late)
	c.want(do(c.q, Op{Kind: Read, Key: "k"}), Absent)
}

// TestV15TakenAnew checks that who takes a lock of its own that is over takes it anew (V15): it
// is not told to have prolonged what it was told not to be there.
func TestV15TakenAnew(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.endsNow(2 * time.Millisecond)
		op := extend("k", "t", overTTL)
		op.Kind = AcquireOrExtend
		if o := c.want(do(c.q, op), Won); o.Prolonged {
			t.Error("prolonged")
		}
	})
}

// TestV15TakenForLess checks that a lock whose copies must be spared is over after the TTL for
// which it was taken, though the copies would have lasted longer (V15).
func TestV15TakenForLess(t *testing.T) {
	const ttl = 300 * time.Millisecond
	for _, to := range []string{"t", "u"} {
		inBubble(t, 3, func(c *testCluster) {
			other := c.redlockd()
			time.Sleep(5 * second)
			c.endsNow(2 * time.Millisecond)
			c.tell(do(c.q, Op{Kind: Decide, Key: "k", Decide: func(State) Op {
				return Op{Kind: Extend, Key: "k", Token: "t", NewToken: to, Replace: to != "t", TTL: ttl}
			}}))
			time.Sleep(ttl + 100*time.Millisecond)
			c.want(do(c.q, Op{Kind: Read, Key: "k"}), Absent)
			c.want(do(other, Op{Kind: Read, Key: "k"}), Absent)
		})
	}
}

// TestV15AskedReleaseFrees checks that a lock is free at once that is over by our clock and that
// its client releases by a command that reads first, though what extends it must spare it (V15).
func TestV15AskedReleaseFrees(t *testing.T) {
	for want, op := range map[Verdict]Op{
		Absent: {Kind: Decide, Key: "k", Decide: func(s State) Op {
			if s.Lapsed {
				return release("k", "t")
			}
			return Op{Kind: Read}
		}},
		Won: {Kind: DecideAll, Keys: []string{"k", "l"}, DecideAll: func(s []State) []Change {
			if s[0].Lapsed {
				return []Change{{Key: "k", Delete: true}}
			}
			return nil
		}},
	} {
		t.Run(op.Kind.String(), func(t *testing.T) {
			inBubble(t, 5, func(c *testCluster) {
				c.endsNow(2 * time.Millisecond)
				c.want(do(c.q, op), want)
				c.want(do(c.q, acquire("k", "u", second)), Won)
			})
		})
	}
}

// TestV15OverWhereNoQuorumCanTell checks that an extend of a lock that was told to be over is not
// done because a read cannot tell any more (V15). Another redlockd has extended the lock on one
// master only, without success.
func TestV15OverWhereNoQuorumCanTell(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(5 * second)
		c.tell(do(c.q, acquire("warm", "t", 2*overTTL)))
		c.tell(do(other, acquire("warm2", "t", 2*overTTL)))
		c.tell(do(c.q, acquire("k", "t", overTTL)))
		c.want(do(other, Op{Kind: Read, Key: "k"}), Held)
		synctest.Wait()
		for _, m := range c.masters[:2] {
			m.refuse("BUSY x")
		}
		c.want(do(other, extend("k", "t", 2*overTTL)), Undecided)
		synctest.Wait()
		for _, m := range c.masters[:2] {
			m.refuse("")
		}
		time.Sleep(overTTL + 2*time.Millisecond)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Absent)
		c.masters[1].kill()
		synctest.Wait()
		if o := do(c.q, extend("k", "t", overTTL)); o.Verdict == Won {
			t.Error("extended, though it was told that there is no lock")
		}
	})
}

// TestV15NothingAfterTheAnswer checks that an extend that reads first because its lock is over by
// our clock does nothing after it was answered that it has waited for too long (V2, V15).
func TestV15NothingAfterTheAnswer(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.endsNow(50 * time.Millisecond)
		for _, m := range c.masters {
			m.away(45 * time.Millisecond)
		}
		var outs []<-chan *Outcome
		for range 6 {
			outs = append(outs, start(c.q, extend("k", "t", overTTL)))
		}
		for _, out := range outs {
			<-out
		}
		left := c.masters[0].TTL("k")
		time.Sleep(100 * time.Millisecond)
		if c.masters[0].TTL("k") > left {
			t.Error("it was extended after the answer")
		}
	})
}

// TestV15RenewalThatIsOver checks that a reply that leaves when its TTL has just ended is
// renewed, whatever the milliseconds (V2, V15).
func TestV15RenewalThatIsOver(t *testing.T) {
	const ttl = 60 * time.Millisecond
	for late := 105 * time.Millisecond; late < 118*time.Millisecond; late += time.Millisecond {
		inBubble(t, 3, func(c *testCluster) {
			c.tell(do(c.q, acquire("k", "t", ttl)))
			time.Sleep(30 * time.Millisecond)
			o := c.want(do(c.q, extend("k", "t", ttl)), Won)
			time.Sleep(late)
			if o.Late(o.Clock()) {
				renew(o)
			}
			if err := o.Confirm(o.Clock()); err != nil {
				t.Errorf("%v late: %v", late, err)
			}
		})
	}
}

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

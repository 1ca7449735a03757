package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// V15: what another redlockd has given for a shorter TTL, which has less drift, has an
// earlier expiry than what this one has told, and ends later.
func TestV15NotOverByALaterExpiry(t *testing.T) {
	const ttl = 10*second + 300*time.Millisecond
	orExtend := extend("k", "t", second)
	orExtend.Kind = AcquireOrExtend
	for _, ask := range []Op{release("k", "t"), extend("k", "t", second), orExtend, {Kind: Remove, Key: "k"},
		{Kind: Expire, Key: "k", TTL: second}, {Kind: Store, Key: "k", Token: "u", TTL: second, IfPresent: true}, {Kind: Read, Key: "k"}} {
		t.Run(fmt.Sprint(ask.Kind), func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				other := c.redlockd()
				time.Sleep(3 * second)
				c.tell(do(c.q, acquire("k", "t", 60*second)))
				time.Sleep(50 * second)
				c.tell(do(other, extend("k", "t", ttl)))
				time.Sleep(ttl - 20*time.Millisecond)
				had := Won
				if ask.Kind == Read {
					had = Held
				}
				if o := c.want(do(c.q, ask), had); ask.Kind == AcquireOrExtend && !o.Prolonged {
					t.Error("its lock is there, and it was taken anew")
				}
			})
		})
	}
}

// V15: a lock whose client was told late is not over before its TTL, at a redlockd that has
// not told it.
func TestV15NotOverByBeingToldLate(t *testing.T) {
	const ttl = 5 * second
	inBubbleWith(t, 3, func(cfg *Config) { cfg.Timeout = second }, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(10 * second)
		c.want(do(c.q, acquire("warm", "t", ttl)), Won)
		o := c.want(do(c.q, acquire("k", "t", ttl)), Won)
		time.Sleep(c.cfg.Timeout - 5*time.Millisecond)
		c.tell(o)
		time.Sleep(ttl - 20*time.Millisecond)
		c.want(do(other, extend("k", "t", second)), Won)
	})
}

// V15: the same where the other redlockd leaves the expiry as it is, since it would have
// given about the same.
func TestV15NotOverByWhatWasKept(t *testing.T) {
	for i := range 40 {
		inBubble(t, 3, func(c *testCluster) {
			other := c.redlockd()
			time.Sleep(3 * second)
			c.tell(do(c.q, acquire("k", "t", 5*second)))
			c.tell(do(c.q, extend("k", "t", 10*second)))
			time.Sleep(2 * second)
			ttl := 7970*time.Millisecond + time.Duration(i)*5*time.Millisecond
			o := c.want(do(other, extend("k", "t", ttl)), Won)
			time.Sleep(c.cfg.Timeout - 5*time.Millisecond)
			c.tell(o)
			time.Sleep(ttl - 2*time.Millisecond)
			if o := do(c.q, extend("k", "t", second)); o.Verdict != Won {
				t.Errorf("extended for %v elsewhere: %v", ttl, o.Verdict)
			}
		})
	}
}

// V13: what keeps its TTL does not grow, however often that is asked for.
func TestV13KeptOftenDoesNotGrow(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", second)))
		synctest.Wait() // what a quorum has not waited for arrives
		before := c.masters[0].TTL("k")
		keep := Op{Kind: Decide, Key: "k", Decide: func(s State) Op { return keep("k", s) }}
		for range 100 {
			c.tell(do(c.q, keep))
		}
		if after := c.masters[0].TTL("k"); after > before+32*time.Millisecond {
			t.Errorf("%v are left of %v", after, before)
		}
	})
}

// V15: what was shortened elsewhere and prolonged here ends by what was given here.
func TestV15OverByTheLastExpiry(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * second)
		c.tell(do(c.q, acquire("k", "t", 10*second)))
		c.want(do(other, Op{Kind: Expire, Key: "k", TTL: second}), Won)
		c.tell(do(c.q, extend("k", "t", second)))
		time.Sleep(second + time.Millisecond)
		c.want(do(c.q, release("k", "t")), Absent)
	})
}

// TestV15OverThoughARenewalMissedAMaster checks that copies which a renewal did not reach
// are over with the others (V15): they have the expiry of the grant that was renewed.
func TestV15OverThoughARenewalMissedAMaster(t *testing.T) {
	for _, ask := range []Op{release("k", "t"), extend("k", "t", second), {Kind: Remove, Key: "k"}, {Kind: Read, Key: "k"}} {
		t.Run(fmt.Sprint(ask.Kind), func(t *testing.T) {
			overThoughARenewalMissedAMaster(t, ask)
		})
	}
}

func overThoughARenewalMissedAMaster(t *testing.T, ask Op) {
	for range 16 { // which names the two get, and so which expiries, is chance
		inBubble(t, 5, func(c *testCluster) {
			mine := c.cfg.Timeout
			c.cfg.Timeout *= 4
			c.redlockd() // counts a lock as over later than this one, whose timeout is shorter
			time.Sleep(3 * second)
			o := do(c.q, acquire("k", "t", second))
			time.Sleep(mine + time.Millisecond)
			c.masters[2].refuse("BUSY a script is running")
			renew(o)
			c.masters[2].refuse("")
			c.tell(o)
			c.masters[3].kill()
			c.masters[4].kill()
			c.untilOver(second)
			c.want(do(c.q, ask), Absent)
		})
	}
}

// sameExpiry returns about the TTL for which a master would now give k the expiry that it
// has.
func (c *testCluster) sameExpiry(q *Quorum) time.Duration {
	do(q, Op{Kind: Read, Key: "k"}) // sets the master's clock
	left := c.masters[0].TTL("k") - 2*time.Millisecond
	return (time.Duration(float64(left)/(1+c.cfg.ClockDrift)) - c.cfg.Padding()).Truncate(time.Millisecond)
}

// TestV15NotOverByWhatWasSetElsewhere checks that a lock is not over by what this redlockd
// gave it, if another one has since set about the same expiry, for a TTL that has less
// drift and so ends later (V15).
func TestV15NotOverByWhatWasSetElsewhere(t *testing.T) {
	replace := extend("k", "t", second)
	replace.Replace, replace.NewToken = true, "t"
	for name, set := range map[string]Op{
		"expire":           {Kind: Expire, Key: "k"},
		"store":            {Kind: Store, Key: "k", Token: "t"},
		"store if present": {Kind: Store, Key: "k", Token: "t", IfPresent: true},
		"change of token":  replace,
		"transaction":      {Kind: DecideAll, Keys: []string{"k"}},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 16 {
				inBubble(t, 3, func(c *testCluster) {
					one, other := c.q, c.redlockd()
					if i >= 8 { // the residue of the other one is the lesser
						one, other = other, one
					}
					time.Sleep(3 * second)
					c.tell(do(one, acquire("k", "t", 10*second)))
					if i%2 > 0 {
						c.tell(do(one, extend("k", "t", 12*second)))
					}
					time.Sleep(2 * second)
					ttl := c.sameExpiry(other) + time.Duration(i%8-4)*8*time.Millisecond
					set.TTL = ttl
					if set.Kind == DecideAll {
						set.TTL = 0
						set.DecideAll = func([]State) []Change { return []Change{{Key: "k", Token: "t", TTL: ttl}} }
					}
					c.tell(do(other, set))
					time.Sleep(ttl - 2*time.Millisecond)
					c.want(do(one, Op{Kind: Read, Key: "k"}), Held)
					if o := do(one, release("k", "t")); o.Verdict != Won {
						t.Errorf("%d, for %v elsewhere: %v", i, ttl, o.Verdict)
					}
				})
			}
		})
	}
}

// TestV15NotOverByWhatWasNotGiven checks that a redlockd knows the copies that it has
// created by the expiry which names them, and not by the one that copies it prolongs would
// have got: another redlockd may have given that one since (V15).
func TestV15NotOverByWhatWasNotGiven(t *testing.T) {
	for _, kind := range []Kind{Acquire, AcquireOrExtend} {
		for i := range 8 {
			inBubble(t, 3, func(c *testCluster) {
				var other *Quorum
				for range 8 { // the last one has a residue of 9
					other = c.redlockd()
					time.Sleep(3 * second)
				}
				time.Sleep(time.Duration(i) * 4 * time.Millisecond)
				c.tell(do(other, Op{Kind: kind, Key: "k", Token: "t", TTL: 10 * second}))
				time.Sleep(2 * second)
				ttl := c.sameExpiry(c.q)
				c.tell(do(c.q, extend("k", "t", ttl)))
				time.Sleep(ttl - 2*time.Millisecond)
				c.want(do(other, Op{Kind: Read, Key: "k"}), Held)
				if o := do(other, release("k", "t")); o.Verdict != Won {
					t.Errorf("%v %d, for %v elsewhere: %v", kind, i, ttl, o.Verdict)
				}
			})
		}
	}
}

// TestV15NotOverByWhatWasCutElsewhere checks that a lock which another redlockd has
// extended, and then cut to about the expiry that this one had given, is not over when
// this one's TTL is (V15).
func TestV15NotOverByWhatWasCutElsewhere(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * second)
		for i := range 40 {
			k := acquire(fmt.Sprint(i), "t", 10*second)
			c.tell(do(c.q, k))
			if i%2 > 0 {
				c.tell(do(c.q, extend(k.Key, "t", 10*second)))
			}
			c.tell(do(other, extend(k.Key, "t", 20*second)))
			time.Sleep(9 * second)
			rest := second + time.Duration(i*3)*time.Millisecond
			c.want(do(other, Op{Kind: Expire, Key: k.Key, TTL: rest}), Won)
			time.Sleep(rest - time.Millisecond)
			if o := do(c.q, release(k.Key, "t")); o.Verdict != Won {
				t.Errorf("cut to %v elsewhere: %v", rest, o.Verdict)
			}
		}
	})
}

// TestV15NotOverByWhatItsSuccessorGave checks the same for a redlockd whose residue another
// one has got, after nobody had seen the first one for long (V6, V15).
func TestV15NotOverByWhatItsSuccessorGave(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		const keys, ttl = 20, 400 * second
		direct := c.cfg.Masters
		var cables []*cable
		for i := range c.masters {
			cables = append(cables, c.throughCable(i))
		}
		cut := func(down bool) {
			for _, k := range cables {
				k.cut(down)
			}
		}
		first := c.redlockd()
		time.Sleep(3 * second)
		var given [keys]time.Time
		for i := range keys {
			c.tell(do(first, acquire(fmt.Sprint(i), "t", ttl)))
			synctest.Wait() // what a quorum has not waited for arrives
			given[i] = time.Now().Add(c.masters[0].TTL(fmt.Sprint(i)))
		}
		cut(true)
		time.Sleep(150 * second)
		c.cfg.Masters = direct
		successor := c.redlockd()
		time.Sleep(5 * second)
		for i := range keys {
			c.tell(do(successor, extend(fmt.Sprint(i), "t", 2*ttl)))
		}
		cut(false)
		time.Sleep(235 * second)
		var ends [keys]time.Time
		for i := range keys {
			left := time.Duration(float64(time.Until(given[i]))/(1+c.cfg.ClockDrift)) - c.cfg.Padding()
			left = (left - time.Duration(i)*5*time.Millisecond).Truncate(time.Millisecond)
			c.want(do(successor, Op{Kind: Expire, Key: fmt.Sprint(i), TTL: left}), Won)
			ends[i] = time.Now().Add(left)
		}
		time.Sleep(time.Until(ends[keys-1]) - 100*time.Millisecond)
		for i := range keys {
			if o := do(first, release(fmt.Sprint(i), "t")); o.Verdict != Won {
				t.Errorf("%d: released %v before its end: %v", i, time.Until(ends[i]), o.Verdict)
			}
		}
	})
}

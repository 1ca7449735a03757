package quorum

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// fastRedlockd starts one more redlockd, whose clock is faster than its clients' by nearly
// clock_drift.
func (c *testCluster) fastRedlockd() *Quorum {
	c.t.Helper()
	now := clock.Monotonic()
	q := c.redlockdBy(func() time.Duration { return now() + time.Duration(float64(now())*0.99*c.cfg.ClockDrift) })
	time.Sleep(5 * second)
	return q
}

// clears is what a script decides that extends its own lock, of one that is over: what is left
// of that is deleted (commands/readfirst.go).
func clears(s State) Op {
	switch {
	case s.Found:
		return extend("k", "t", second)
	case s.Lapsed && !s.Spared:
		return release("k", "t")
	default:
		return Op{Kind: Read}
	}
}

// clearsSeveral is the same of a script on several keys.
func clearsSeveral(s []State) []Change {
	switch {
	case s[0].Found:
		return []Change{{Key: "k", Token: "t", TTL: second}}
	case s[0].Lapsed && !s[0].Spared:
		return []Change{{Key: "k", Delete: true}}
	default:
		return nil
	}
}

// TestV15NotOverByAFastClock checks that a lock that is over by R1's clock, but not yet by its
// client's, is deleted by nothing but a release (V15, why 92): whatever R1 answers, and also if
// that is lost, no other client gets the lock. Reads and scripts are answered at once as if it
// were absent.
func TestV15NotOverByAFastClock(t *testing.T) {
	const ttl = 5 * time.Minute
	orExtend, changed, store := extend("k", "t", ttl), extend("k", "t", ttl), acquire("k", "u", ttl)
	orExtend.Kind, changed.NewToken, changed.Replace = AcquireOrExtend, "t'", true
	store.Kind, store.IfPresent = Store, true
	again := func(State) Op { return extend("k", "t", ttl) }
	for _, k := range []struct {
		name string
		ask  Op
		want Verdict
	}{
		{"read", Op{Kind: Read, Key: "k"}, Absent},
		{"extend", extend("k", "t", ttl), Absent},
		{"acquire-or-extend", orExtend, Won},
		{"change of token", changed, Absent},
		{"expire", Op{Kind: Expire, Key: "k", TTL: ttl}, Absent},
		{"store if present", store, Absent},
		{"takes its own again", Op{Kind: Acquire, Key: "k", Token: "t", TTL: ttl, Decide: again}, Won},
		{"script", Op{Kind: Decide, Key: "k", Decide: clears}, Absent},
		{"script on several keys", Op{Kind: DecideAll, Keys: []string{"k", "l"}, DecideAll: clearsSeveral}, Won},
	} {
		t.Run(k.name, func(t *testing.T) {
			inBubble(t, 5, func(c *testCluster) {
				fast := c.fastRedlockd()
				c.tell(do(fast, acquire("k", "t", ttl)))
				time.Sleep(ttl - second)
				if o := c.want(do(fast, k.ask), k.want); o.Took > c.cfg.Timeout {
					t.Errorf("answered after %v", o.Took)
				}
				synctest.Wait()
				c.want(do(c.q, acquire("k", "u", second)), Held)
			})
		})
	}
}

// TestV15RaisedByAFastClock checks that a lock is not over before the TTL that its client was
// told first, if a script has raised it since, by a clock that is fast, to what ends earlier by
// the client's (V15, why 92).
func TestV15RaisedByAFastClock(t *testing.T) {
	const ttl = 5 * time.Minute
	for _, several := range []bool{false, true} {
		inBubble(t, 3, func(c *testCluster) {
			fast := c.fastRedlockd()
			c.tell(do(fast, acquire("k", "t", ttl)))
			told := time.Now()
			time.Sleep(198 * second)
			if o := do(fast, raiseTo(101*second, several)); o.Done == Read {
				t.Error("more is left")
			} else {
				c.tell(o)
			}
			time.Sleep(time.Until(told.Add(ttl - 30*time.Millisecond)))
			do(fast, extend("k", "t", ttl))
			c.want(do(c.q, acquire("k", "u", second)), Held)
		})
	}
}

package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestV8OwedReleaseOfItsSuccessorsCopy checks that what R2 has yet to repeat of a DEL deletes no
// copy of a redlockd that has got R2's residue since (V8, V6).
func TestV8OwedReleaseOfItsSuccessorsCopy(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other, way := c.redlockdThrough(2)
		c.tell(do(other, acquire("k", "t", 5*time.Minute)))
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		way.cut(true)
		synctest.Wait()
		c.want(do(other, Op{Kind: Remove, Key: "k"}), Won) // B's DEL
		time.Sleep(140 * time.Second)
		successor := c.redlockd()
		time.Sleep(8 * time.Second)
		c.tell(do(successor, acquire("k", "t", 5*time.Second))) // A takes it again
		synctest.Wait()
		time.Sleep(time.Second)
		a := c.masters[0]
		a.freeze()
		time.Sleep(60 * time.Millisecond)
		told := time.Now()
		c.tell(do(successor, extend("k", "t", 20*time.Second)))
		time.Sleep(300 * time.Millisecond)
		a.thaw()
		way.cut(false)
		time.Sleep(8 * time.Second)
		if o := do(c.q, acquire("k", "B", time.Second)); o.Verdict == Won {
			t.Errorf("B has the lock %v before A's TTL is over", 20*time.Second-time.Since(told))
		}
	})
}

// TestV6OwedRollbackOfItsSuccessorsLock checks that a rollback which R2 has yet to repeat deletes no
// copy of a redlockd that has got R2's residue since, and gave its attempt the same expiry (V6).
func TestV6OwedRollbackOfItsSuccessorsLock(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		other, way := c.redlockdThrough(2)
		o := c.want(do(other, acquire("k", "t", 5*time.Minute)), Won)
		synctest.Wait()
		given := time.Now().Add(c.masters[2].TTL("k"))
		way.cut(true)
		synctest.Wait()
		o.Undo() // its client has gone
		time.Sleep(140 * time.Second)
		successor := c.redlockd()
		time.Sleep(8 * time.Second)
		left := time.Duration(float64(time.Until(given))/(1+c.cfg.ClockDrift)) - c.cfg.Padding()
		same := false
		for i := time.Duration(0); i < 40 && !same; i++ {
			do(c.q, Op{Kind: Remove, Key: "k"})
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
			left -= 100 * time.Millisecond
			c.want(do(successor, acquire("k", "t", (left-i*7*time.Millisecond).Truncate(time.Millisecond))), Won)
			synctest.Wait()
			same = time.Now().Add(c.masters[2].TTL("k")).Truncate(time.Millisecond).Equal(given.Truncate(time.Millisecond))
		}
		if !same {
			t.Fatal("no attempt got the same expiry")
		}
		c.masters[0].Del("k") // it had missed the acquire
		way.cut(false)
		time.Sleep(8 * time.Second)
		if o := do(c.q, acquire("k", "B", time.Second)); o.Verdict == Won {
			t.Errorf("B has the lock %v before A's TTL is over", left)
		}
	})
}

// TestV8DELIsRepeatedAfterALongAbsence checks that a DEL, or a script that frees two locks, is
// repeated to a master that was away when it was won, however long (V8, why 58).
func TestV8DELIsRepeatedAfterALongAbsence(t *testing.T) {
	for name, free := range map[string]Op{"remove": {Kind: Remove, Key: "k"}, "several": giveAll("t", "k", "l"), "release": release("k", "t")} {
		for _, away := range []time.Duration{time.Second, 10 * time.Second} {
			t.Run(fmt.Sprint(name, away), func(t *testing.T) {
				inBubble(t, 3, func(c *testCluster) {
					for _, key := range []string{"k", "l"} {
						c.tell(do(c.q, acquire(key, "t", time.Minute)))
					}
					synctest.Wait()
					time.Sleep(time.Second)
					c.masters[2].kill() // cut off, it loses nothing
					time.Sleep(away)
					c.want(do(c.q, free), Won)
					c.masters[2].mend()
					time.Sleep(5 * time.Second)
					if n := c.copies("k", "t"); n != 0 {
						t.Errorf("%d copies are left of what was deleted", n)
					}
					c.masters[0].kill()
					time.Sleep(time.Second)
					if o := do(c.q, acquire("k", "B", time.Second)); o.Verdict != Won {
						t.Errorf("B's acquire: %v, %v", o.Verdict, o.Err)
					}
				})
			})
		}
	}
}

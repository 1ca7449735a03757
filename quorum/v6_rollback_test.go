package quorum

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// until returns an acquire whose TTL ends at a time, as with PXAT.
func until(key, token string, at time.Time) Op {
	return acquire(key, token, time.Until(at).Truncate(time.Millisecond))
}

// TestV6NamesOverTwoRedlockd checks that two attempts through two instances, with the
// same token and end (PXAT), have two names: the rollback of the first deletes no copy
// of the second (V6).
func TestV6NamesOverTwoRedlockd(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		one, other := c.two()
		freed := 0
		for round := range 150 {
			key, end := fmt.Sprint("k", round), time.Now().Add(20*time.Second)
			o := c.want(do(one.Quorum, until(key, "A", end)), Won)
			c.want(do(one.Quorum, release(key, "A")), Won)
			synctest.Wait()
			time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
			c.want(do(other, until(key, "A", end)), Won)
			synctest.Wait()
			o.Undo() // the first session has gone only now
			synctest.Wait()
			if c.copies(key, "A") != 3 {
				freed++
			}
			time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		}
		if freed > 0 {
			t.Errorf("%d of 150 living locks were freed by the rollback of another redlockd's attempt", freed)
		}
	})
}

// TestV6TriedAgainElsewhere checks that a lock that was answered NOQUORUM and is taken
// at once with the same token through another instance survives the later rollback of
// the first attempt (V6).
func TestV6TriedAgainElsewhere(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		one, other := c.two()
		freed, end := 0, time.Time{}
		for round := range 40 {
			key := fmt.Sprint("k", round)
			end = time.Now().Add(20 * time.Second)
			out := one.onTheWay(c.cfg.Timeout+5*time.Millisecond, until(key, "A", end))
			c.want(<-out, Undecided)
			o := do(other, until(key, "A", end))
			for _, f := range c.masters {
				f.kill() // so that the answers to the first attempt are lost
				f.mend()
			}
			time.Sleep(2*time.Second + time.Duration(rand.IntN(1000))*time.Millisecond)
			if o.Verdict == Won && c.copies(key, "A") < 2 {
				freed++
			}
		}
		if freed > 0 {
			t.Errorf("%d of 40 living locks were freed by the rollback of another redlockd's attempt", freed)
		}
	})
}

// TestV6RollbackUnderWayKeepsItsName checks that no attempt gets the name of a rollback
// that waits or is under way: if the connection breaks before any answer, that rollback
// is repeated after the next lock (V6).
func TestV6RollbackUnderWayKeepsItsName(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 30*time.Second)), Won)
		time.Sleep(time.Second)
		slow, broke := c.masters[0], 0
		for round := range 20 {
			key := fmt.Sprint("k", round)
			o := c.want(do(c.q, acquire(key, "A", 20*time.Second)), Won)
			synctest.Wait()
			c.slow(3*time.Millisecond, 0)
			start(c.q, Op{Kind: Read, Key: "other"}) // makes a batch of 9 ms
			synctest.Wait()
			o.Undo()
			c.want(do(c.q, acquire(key, "A", 20*time.Second)), Won)
			time.Sleep(16 * time.Millisecond) // both are carried out, and none is answered
			// Both were carried out on that master, unless a look came before them.
			sets := slices.DeleteFunc(slow.commands(0), func(line string) bool { return !strings.HasPrefix(line, "SET "+key+" A~") })
			took := slow.holds(key) == "A" && len(sets) == 2
			if took {
				broke++
			}
			slow.kill()
			slow.mend()
			c.slow(0, 0)
			time.Sleep(3 * time.Second)
			if n := c.copies(key, "A"); took && n != 3 {
				t.Fatalf("round %d: %d copies of the living lock, want 3", round, n)
			}
		}
		if broke < 10 {
			t.Errorf("only %d connections broke between the two", broke)
		}
	})
}

// TestV6NameOfALockThatWasTold checks that an attempt does not get the name of a lock
// that was granted and lives (V6). Otherwise, when its answers come late, its rollback
// deletes the holder's lock.
func TestV6NameOfALockThatWasTold(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 30*time.Second)), Won)
		for round := range 40 {
			time.Sleep(1300 * time.Millisecond) // no look is under way
			key := fmt.Sprint("k", round)
			c.want(do(c.q, acquire(key, "A", 10*time.Second)), Won)
			time.Sleep(2 * time.Second)
			before := len(c.masters[0].commands(0))
			// It ends within a few milliseconds of the first one.
			for _, f := range c.masters {
				f.away(90 * time.Millisecond)
			}
			op := acquire(key, "A", 8*time.Second+time.Duration(round-5)*time.Millisecond)
			op.Kind = AcquireOrExtend
			do(c.q, op)
			for _, f := range c.masters {
				f.away(0)
			}
			time.Sleep(1700 * time.Millisecond)
			if sent := strings.Join(c.masters[0].commands(before), "\n"); !strings.Contains(sent, " A~rl") {
				t.Errorf("round %d: nothing was sent: %s", round, sent)
			}
			if n := c.copies(key, "A"); n != 3 {
				t.Fatalf("round %d: %d copies of the lock that A has, want 3", round, n)
			}
		}
	})
}

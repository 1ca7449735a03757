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

// until is an acquire with a TTL that ends at a time, as PXAT asks for.
func until(key, token string, at time.Time) Op {
	return acquire(key, token, time.Until(at).Truncate(time.Millisecond))
}

// V6: two attempts at two redlockd with one token and one end (PXAT) have two
// names: what undoes the first frees nothing of the second.
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
			o.Undo() // the first session is gone only now
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

// V6: what was refused with NOQUORUM is taken with the same token through
// another redlockd, at once, and the rollback of the first comes later.
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
				f.kill() // so that what the first is answered is never heard
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

// V6: a rollback that waits, or is under way, keeps its name from the next
// attempt: on a connection that breaks before any answer, the old rollback is
// repeated behind the new lock.
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
			start(c.q, Op{Kind: Read, Key: "other"}) // a batch is under way there, for 9 ms
			synctest.Wait()
			o.Undo()
			c.want(do(c.q, acquire(key, "A", 20*time.Second)), Won)
			time.Sleep(16 * time.Millisecond) // nothing is answered
			// Both were carried out on it, but where a look went before them.
			sets := slices.DeleteFunc(slow.commands(0), func(line string) bool { return !strings.HasPrefix(line, "SET "+key+" A NX") })
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

// V6: an attempt has no name of a lock that was told and lives: the attempt's
// answers are late, and its rollback frees the holder's lock.
func TestV6NameOfALockThatWasTold(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 30*time.Second)), Won)
		time.Sleep(time.Second)
		for round := range 40 {
			key := fmt.Sprint("k", round)
			o := c.want(do(c.q, acquire(key, "A", 10*time.Second)), Won)
			o.Told(o.Clock())
			time.Sleep(2 * time.Second)
			// It ends when the first one does, by a few milliseconds.
			for _, f := range c.masters {
				f.set(func() { f.way = 90 * time.Millisecond })
			}
			op := acquire(key, "A", 8*time.Second+time.Duration(round-5)*time.Millisecond)
			op.Kind = AcquireOrExtend
			do(c.q, op)
			for _, f := range c.masters {
				f.set(func() { f.way = 0 })
			}
			time.Sleep(time.Second)
			if n := c.copies(key, "A"); n != 3 {
				t.Fatalf("round %d: %d copies of the lock that A has, want 3", round, n)
			}
		}
	})
}

// V7: an attempt that is closed twice, as where a master answers that it went out to
// late, leaves alone the queue that serves another key by then.
func TestV7ClosedTwice(t *testing.T) {
	d := &keyspace{}
	d.keys.init()
	op := &Op{Kind: Acquire, Key: "k", Token: "t"}
	a := &attempt{call: &call{db: d, op: op}, op: op, names: true}
	d.keys.open(a)
	d.keys.close(a)
	d.keys.close(a)
	s := d.keys.shard("k")
	if s.queue("k") == s.queue("another") {
		t.Error("two keys have one queue")
	}
}

package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestV8OwedReleaseOfItsSuccessorsCopy checks that what R2 has yet to repeat of a DEL deletes no
// copy that another instance has made since (V8, V6).
func TestV8OwedReleaseOfItsSuccessorsCopy(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		way := c.owesDel(acquire("k", "t", 5*time.Minute)) // B's
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

// TestV8DELIsRepeatedAfterALongAbsence checks that a DEL, or a script that frees two locks, is
// repeated to a master that was away when it was won, however long (V8, why 42): in database 3
// too, which is looked at before database 0 or after it.
func TestV8DELIsRepeatedAfterALongAbsence(t *testing.T) {
	for name, free := range map[string]Op{"remove": {Kind: Remove, Key: "k"}, "several": giveAll("t", "k", "l"), "release": release("k", "t")} {
		for _, away := range []time.Duration{time.Second, 10 * time.Second} {
			for _, db := range []int{0, 3} {
				t.Run(fmt.Sprint(name, away, db), func(t *testing.T) {
					tries := 1
					if db == 3 && away > time.Second {
						tries = 5 // which one is looked at first is chance
					}
					for range tries {
						inBubble(t, 3, func(c *testCluster) { c.missesDeletion(db, free, away) })
					}
				})
			}
		}
	}
}

// missesDeletion frees k and l while a master is away, and looks whether k is free then.
func (c *testCluster) missesDeletion(db int, free Op, away time.Duration) {
	open(c.q, db)
	time.Sleep(50 * time.Millisecond) // all masters, not a quorum alone
	run := func(op Op) *Outcome {
		op.DB = db
		return do(c.q, op)
	}
	for _, key := range []string{"k", "l"} {
		c.tell(run(acquire(key, "t", time.Minute)))
	}
	synctest.Wait()
	time.Sleep(time.Second)
	c.masters[2].kill() // cut off, it loses nothing
	time.Sleep(away)
	c.want(run(free), Won)
	c.masters[2].mend()
	time.Sleep(5 * time.Second)
	for _, f := range c.masters {
		f.Select(db)
	}
	if n := c.copies("k", "t"); n != 0 {
		c.t.Errorf("%d copies are left of what was deleted", n)
	}
	c.masters[0].kill()
	time.Sleep(time.Second)
	if o := run(acquire("k", "B", time.Second)); o.Verdict != Won {
		c.t.Errorf("B's acquire: %v, %v", o.Verdict, o.Err)
	}
}

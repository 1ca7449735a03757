package quorum

import (
	"fmt"
	"testing"
	"time"
)

// goesBackBy puts a master back to its memory of a while ago, with its run_id and its
// connections, as the snapshot of a virtual machine does.
func (f *fakeMaster) goesBackBy(ago time.Duration) { f.set(func() { f.GoBack(f.Now() - ago) }) }

// TestM4MemoryOfBeforeUnderABatch checks that a mark of before, which a batch reads between
// two looks, is not taken for one that another instance has written: the next batch would
// count under it until the next look, in all databases (M4). A has b and what a has
// forgotten, and B would get a and c.
func TestM4MemoryOfBeforeUnderABatch(t *testing.T) {
	for _, db := range []int{0, 3} {
		for phase := range 10 {
			t.Run(fmt.Sprint(db, phase), func(t *testing.T) {
				inBubble(t, 3, func(c *testCluster) {
					open(c.q, db)
					c.want(do(c.q, Op{Kind: Acquire, DB: db, Key: "first", Token: "A", TTL: time.Minute}), Won)
					time.Sleep(5*time.Second + time.Duration(phase)*100*time.Millisecond)
					c.masters[2].kill()
					c.want(do(c.q, Op{Kind: Acquire, DB: db, Key: "k", Token: "A", TTL: time.Minute}), Won)
					c.masters[2].mend()
					time.Sleep(2 * time.Second)
					c.masters[0].goesBackBy(5 * time.Second)
					for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
						if o := do(c.q, Op{Kind: Acquire, DB: db, Key: "k", Token: "B", TTL: time.Second}); o.Verdict == Won {
							t.Fatalf("a second holder: %+v", c.q.cluster.Database(db).Status())
						}
					}
				})
			})
		}
	}
}

// TestM4MemoryOfBeforeInAnotherDatabase checks that a master with a memory of a moment before
// is used in no database by a redlockd that has just started, and sees the other marks, which
// record later beats, only after it has judged that one (M4): the beats are database 0's.
func TestM4MemoryOfBeforeInAnotherDatabase(t *testing.T) {
	for phase := range 10 {
		inBubble(t, 3, func(c *testCluster) {
			open(c.q, 3)
			time.Sleep(29 * time.Second)
			c.masters[2].kill()
			c.want(do(c.q, Op{Kind: Acquire, DB: 3, Key: "k", Token: "A", TTL: time.Minute}), Won)
			c.masters[2].mend()
			time.Sleep(time.Second)
			c.stop(c.q)
			c.masters[0].goesBackBy(30 * time.Second)
			started, ways := c.redlockdOver(c.cfg.Masters)
			for _, other := range []string{"b", "c"} {
				ways[other].leads(noRoute)
			}
			started.Open(3, func() {})
			time.Sleep(time.Duration(phase) * 100 * time.Millisecond)
			ways["c"].leads(c.masters[2].dial)
			for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				if o := do(started, Op{Kind: Acquire, DB: 3, Key: "k", Token: "B", TTL: time.Second}); o.Verdict == Won {
					t.Fatalf("phase %d: a second holder: %+v", phase, started.cluster.Database(3).Status())
				}
			}
		})
	}
}

// TestM4MemoryOfBefore checks that a master that is put back to its memory of a moment before,
// with its run_id (as from the snapshot of a virtual machine), is detected by a redlockd that
// has just started: the other marks record later beats. They may be looked at after the
// master's own (why 89).
func TestM4MemoryOfBefore(t *testing.T) {
	for _, ago := range []time.Duration{5 * time.Second, 30 * time.Second} {
		for _, later := range []time.Duration{0, 200 * time.Millisecond, 600 * time.Millisecond} {
			inBubble(t, 3, func(c *testCluster) {
				a, third := c.masters[0], c.masters[2]
				old := a.disk()
				time.Sleep(ago - time.Second)
				c.onTwo()
				time.Sleep(time.Second)
				c.stop(c.q)
				old()
				started, ways := c.redlockdOver(c.cfg.Masters)
				if later > 0 {
					ways["b"].leads(noRoute)
					ways["c"].leads(noRoute)
					time.Sleep(later)
					ways["c"].leads(third.dial)
				}
				for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
					if o := do(started, acquire("k", "B", time.Second)); o.Verdict == Won {
						t.Fatalf("%v ago, the others later by %v: a second holder", ago, later)
					}
				}
				if s := started.Status().Masters[0]; s.State != Quarantine {
					t.Errorf("%v ago, the others later by %v: a is %s %s", ago, later, s.State, s.Reason)
				}
			})
		}
	}
}

package quorum

import (
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// TestM8LeastPaddingByAJoiningMaster checks that a master that joins does not count for the
// least padding (M8, V3). R1, with a longer timeout and the new list,
// sees a and x, which joins, bear its greater padding for the greatest hold, and would raise the
// least padding. R2, with the old list, grants A the lock on b c with the small one. R3 would see
// the least padding on a, and no step of a clock that is no greater.
func TestM8LeastPaddingByAJoiningMaster(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 5*time.Second, 10*time.Minute }, func(c *testCluster) {
		all := append([]Master(nil), c.cfg.Masters...)
		list := c.listed("c", c.join("x"))
		c.want(do(c.q, acquire("warm", "t", 5*time.Second)), Won)
		two, twoWays := c.redlockdOver(all)
		three, threeWays := c.redlockdOver(all)
		time.Sleep(5 * time.Second)
		c.change(c.q, list)
		c.reaches(c.q, 2, "announced")
		time.Sleep(15 * time.Second)
		twoWays["a"].leads(noRoute)
		threeWays["a"].leads(noRoute)
		c.stop(c.q)
		brief := c.cfg
		c.cfg.Timeout = time.Second
		c.redlockdOf(without(list, "b"))
		c.cfg = brief
		time.Sleep(time.Minute)
		if m, err := mark.Parse(c.masters[0].holds(mark.Key)); err != nil || m.Timeout != time.Second || m.Least != brief.Settings().Padding() {
			t.Errorf("a's mark has the timeout %v and the least padding %v, want 1s and that of before (%v)", m.Timeout, m.Least, err)
		}
		c.want(do(two, acquire("k", "A", 5*time.Second)), Won)
		taken := time.Now()
		threeWays["a"].leads(c.masters[0].dial)
		time.Sleep(4300*time.Millisecond - time.Since(taken))
		if o := do(three, Op{Kind: Read, Key: "k"}); o.Verdict == Absent {
			t.Errorf("A is told that its lock is gone after %v of 5s", time.Since(taken))
		}
		out := do(three, Op{Kind: Extend, Key: "k", Token: "A", TTL: 500 * time.Millisecond})
		t.Logf("A's extend: %v %v", out.Verdict, out.Err)
		if o := do(three, acquire("k", "B", 4*time.Second)); o.Verdict == Won && time.Since(taken) < 5*time.Second {
			t.Errorf("two holders after %v of 5s", time.Since(taken))
		}
	})
}

// TestM8RequiredComesUnderALock checks that a master that is to be required proves nothing by
// lacking a lock of before (M8). A has a lock on a b. c, which lacks it, becomes the
// required master. The lock lives.
func TestM8RequiredComesUnderALock(t *testing.T) {
	for _, kind := range []Kind{Read, Extend, Release} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			inBubbleWith(t, 3, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = time.Minute, 10*time.Second }, func(c *testCluster) {
				other := c.redlockd()
				time.Sleep(5 * time.Second)
				c.masters[2].kill()
				time.Sleep(time.Second)
				c.want(do(c.q, acquire("k", "A", time.Minute)), Won)
				c.masters[2].mend()
				time.Sleep(5 * time.Second)
				list := c.listed("")
				list[2].Required = true
				c.change(c.q, list)
				c.reaches(c.q, 2, "announced")
				for range 20 {
					time.Sleep(time.Second)
					o := do(c.q, Op{Kind: kind, Key: "k", Token: "A", TTL: 30 * time.Second})
					t.Logf("%v %v", o.Verdict, o.Err)
					if o.Verdict == Absent || o.Verdict == Held && kind != Read {
						t.Fatalf("%s: A is told %v", c.q.Status().Phase, o.Verdict)
					}
					if kind == Release && o.Verdict == Won {
						break
					}
				}
				_ = other
			})
		})
	}
}

// TestM8RequiredGoesMeanwhile checks that a change that only the votes tell of counts for
// their own verdict (M8). a is required no more, as R1 learns from the answers to
// its read only. A has the lock on b c, and R1 finds none on a.
func TestM8RequiredGoesMeanwhile(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *Config) { short(cfg); cfg.Masters[0].Required = true }, func(c *testCluster) {
		two, ways := c.redlockdOver(c.cfg.Masters)
		time.Sleep(5 * time.Second)
		list := c.listed("")
		list[0].Required = false
		c.change(two, over(list, ways))
		for {
			s := two.Status()
			if s.Generation == 2 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		ways["a"].leads(noRoute)
		time.Sleep(time.Millisecond)
		c.want(do(two, acquire("k", "A", 5*time.Second)), Won)
		o := do(c.q, Op{Kind: Read, Key: "k"})
		t.Logf("read: %v %v, changing %v", o.Verdict, o.Err, c.q.cluster.Opened(0).List().Changing())
		if o.Verdict == Absent {
			t.Error("A is told that it has no lock")
		}
		o = do(c.q, Op{Kind: Extend, Key: "k", Token: "A", TTL: 5 * time.Second})
		t.Logf("extend: %v %v", o.Verdict, o.Err)
		if o.Verdict == Absent {
			t.Error("A is told that it has no lock to extend")
		}
	})
}

// TestM8RequiredComesWithALeftover checks that the word of a master that is to be required
// proves no holder (M8). A has a lock on a b. c, which is to be required, has
// what is left of a lost attempt. While b is down, c's word alone is no proof of a holder.
func TestM8RequiredComesWithALeftover(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = time.Minute, 10*time.Second }, func(c *testCluster) {
		c.masters[2].kill()
		time.Sleep(time.Second)
		c.want(do(c.q, acquire("k", "A", time.Minute)), Won)
		c.masters[2].mend()
		time.Sleep(5 * time.Second)
		list := c.listed("")
		list[2].Required = true
		c.change(c.q, list)
		c.reaches(c.q, 2, "announced")
		c.masters[2].oldTake("k", "Z", time.Minute)
		c.masters[1].kill()
		time.Sleep(time.Second)
		if o := do(c.q, Op{Kind: Read, Key: "k"}); o.Verdict == Held && o.State.Token == "Z" || o.Verdict == Absent {
			t.Errorf("A is told %v, held by %q", o.Verdict, o.State.Token)
		}
		if o := do(c.q, Op{Kind: Extend, Key: "k", Token: "A", TTL: 30 * time.Second}); o.Verdict != Undecided {
			t.Errorf("A's extend is %v", o.Verdict)
		}
	})
}

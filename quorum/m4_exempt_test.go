package quorum

import (
	"slices"
	"testing"
	"time"
)

// disk saves the keys of a master's database 0, and returns a function that restores
// them.
func (f *fakeMaster) disk() (restore func()) {
	type entry struct {
		value string
		ttl   time.Duration
	}
	kept, at := map[string]entry{}, time.Now()
	for _, key := range f.Keys() {
		kept[key] = entry{f.holds(key), f.TTL(key)}
	}
	return func() {
		f.FlushAll()
		for key, e := range kept {
			if e.ttl == 0 {
				f.Set(key, e.value)
			} else if left := e.ttl - time.Since(at); left > 0 {
				f.Set(key, e.value)
				f.SetTTL(key, left)
			}
		}
	}
}

// TestM4MajorityThatLostNothing checks that masters that lost nothing vote again within
// seconds, with any number of redlockd, as often as they restart, be it a majority or
// all of them (M4).
func TestM4MajorityThatLostNothing(t *testing.T) {
	for _, redlockds := range []int{1, 2, 4} {
		inBubble(t, 5, func(c *testCluster) {
			for _, f := range c.masters {
				f.set(func() { f.AOF = true })
			}
			all := []*Quorum{c.q}
			for range redlockds - 1 {
				time.Sleep(170 * time.Millisecond)
				all = append(all, c.redlockd())
			}
			time.Sleep(3 * time.Second)
			c.want(do(c.q, acquire("k", "t", 5*time.Minute)), Won)
			time.Sleep(2 * time.Second)
			for round := range 10 {
				restarted := slices.Clone(c.masters)
				if round != 9 {
					restarted = restarted[round%3 : round%3+3]
				}
				for _, f := range restarted {
					f.kill()
				}
				time.Sleep(time.Duration(100+170*round) * time.Millisecond)
				for _, f := range restarted {
					f.startWithMemory()
				}
				time.Sleep(10 * time.Second)
				for i, q := range all {
					if s := q.Status(); s.Voting != 5 {
						t.Fatalf("round %d, %d redlockd: %d vote for redlockd %d: %+v", round, redlockds, s.Voting, i, s.Masters)
					}
				}
			}
			c.want(do(c.q, acquire("k", "u", time.Second)), Held)
		})
	}
}

// TestM4ExemptMasterKeepsItsGrantLimit checks that locks with holds above the floor are still
// extended and granted after masters with all their data have restarted while one is away, which
// the others cannot be told of (M3, M4).
func TestM4ExemptMasterKeepsItsGrantLimit(t *testing.T) {
	for masters, restarted := range map[int]int{4: 1, 5: 4} {
		inBubble(t, masters, func(c *testCluster) {
			for _, f := range c.masters {
				f.set(func() { f.AOF = true })
			}
			time.Sleep(3 * time.Second)
			for do(c.q, acquire("k", "t", time.Hour)).Verdict != Won {
				time.Sleep(time.Second) // until all marks bear it
			}
			time.Sleep(5 * time.Second)
			c.masters[masters-1].kill()
			for _, f := range c.masters[:restarted] {
				f.kill()
			}
			time.Sleep(time.Second)
			for _, f := range c.masters[:restarted] {
				f.startWithMemory()
			}
			time.Sleep(10 * time.Second)
			c.want(do(c.q, extend("k", "t", time.Hour)), Won)
			c.want(do(c.q, acquire("l", "t", time.Hour)), Won)
		})
	}
}

// TestM4DiskOfBefore checks that a disk of a second before is detected by whichever
// redlockd looks first, also by one that was cut off when the beat was raised last, if
// no other one is left that saw that (M4).
func TestM4DiskOfBefore(t *testing.T) {
	for _, before := range []time.Duration{1200 * time.Millisecond, 2 * time.Second, 4 * time.Second} {
		for _, left := range []bool{true, false} {
			if !left && before < 2*time.Second {
				continue
			}
			inBubble(t, 3, func(c *testCluster) {
				late, mend := c.cutOff()
				f := c.masters[0]
				old := f.disk()
				time.Sleep(before)
				c.masters[2].kill()
				c.want(do(c.q, acquire("k", "t", time.Minute)), Won) // on a and b
				f.kill()
				if !left {
					c.stop(c.q)
				}
				old()
				mend()
				f.startWithMemory()
				c.masters[2].mend()
				for range 200 {
					time.Sleep(100 * time.Millisecond)
					if o := do(late, acquire("k", "u", time.Second)); o.Verdict == Won {
						t.Fatalf("a disk of %v before, another one left: %v: a second holder", before, left)
					}
				}
				if left {
					return
				}
				c.q = c.redlockd()
			})
		}
	}
}

// cutOff makes all masters sync their logs always, and starts one more redlockd, which
// has seen them all and is then cut off from them until mend is called.
func (c *testCluster) cutOff() (late *Quorum, mend func()) {
	direct := slices.Clone(c.cfg.Masters)
	var cables []*cable
	for i := range c.masters {
		cables = append(cables, c.throughCable(i))
	}
	late = c.redlockd()
	c.cfg.Masters = direct
	for _, f := range c.masters {
		f.set(func() { f.AOF = true })
	}
	time.Sleep(3 * time.Second)
	c.want(do(c.q, acquire("long", "t", time.Minute)), Won)
	time.Sleep(1300 * time.Millisecond)
	each := func(down bool) {
		for _, k := range cables {
			k.cut(down)
		}
	}
	each(true)
	return late, func() { each(false) }
}

// TestM4ConnectionLostBefore checks that a redlockd whose connection to a master broke
// long before the master restarted does not go by the beat that it saw last: another one
// may have used the master meanwhile, and the mark that says so may be out of reach (M4).
func TestM4ConnectionLostBefore(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		direct := c.cfg.Masters
		toA, toB := c.throughCable(0), c.throughCable(1)
		late := c.redlockd()
		c.cfg.Masters = direct
		for _, f := range c.masters {
			f.set(func() { f.AOF = true })
		}
		time.Sleep(5 * time.Second)
		c.masters[2].kill()
		time.Sleep(5 * time.Second)
		toA.cut(true)
		toB.cut(true)
		a := c.masters[0]
		old := a.disk()
		time.Sleep(20 * time.Second)
		c.want(do(c.q, acquire("k", "t", time.Minute)), Won) // on a and b
		a.kill()
		c.stop(c.q)
		old()
		toA.cut(false)
		a.startWithMemory()
		c.masters[2].mend()
		for range 200 {
			time.Sleep(100 * time.Millisecond)
			if o := do(late, acquire("k", "u", time.Second)); o.Verdict == Won {
				t.Errorf("a disk of 20 s before, and a second holder")
				return
			}
		}
	})
}

// TestM4BeatIsTold checks that a redlockd that sees a beat writes it to the other
// marks, also if another instance, which does not reach that master, raises the beats
// of the others all the time and they are always looked at right after that (M4).
func TestM4BeatIsTold(t *testing.T) {
	for _, later := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond} {
		inBubble(t, 3, func(c *testCluster) {
			direct := c.cfg.Masters
			to := c.throughCable(0)
			late := c.redlockd()
			c.cfg.Masters = direct
			time.Sleep(3 * time.Second)
			c.stop(c.q)
			for i, f := range c.masters {
				f.set(func() { f.AOF = true })
				if i > 0 { // the looks at them come a little later than those at a
					f.set(func() { f.Delay = later })
				}
			}
			c.q = c.redlockd()
			time.Sleep(2 * time.Second)
			for _, f := range c.masters {
				f.set(func() { f.Delay = 0 })
			}
			time.Sleep(2 * time.Second)
			to.cut(true)
			time.Sleep(10 * time.Second)
			a := c.masters[0]
			old := a.disk()
			time.Sleep(5 * time.Second)
			c.masters[2].kill()
			c.want(do(c.q, acquire("k", "t", time.Minute)), Won) // on a and b
			a.kill()
			c.stop(c.q)
			old()
			to.cut(false)
			a.startWithMemory()
			c.masters[2].mend()
			for range 200 {
				time.Sleep(100 * time.Millisecond)
				if o := do(late, acquire("k", "u", time.Second)); o.Verdict == Won {
					t.Errorf("%v: a disk of 5 s before, and a second holder", later)
					return
				}
			}
		})
	}
}

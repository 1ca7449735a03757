package quorum

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// M5: the offsets allow what a clock within the drift does, and see a step
// beyond it, whatever the round trips.
func TestM5Offsets(t *testing.T) {
	for range 300 {
		o := offsets{drift: 0.01}
		speed := 1 + (rand.Float64()*2-1)*0.009
		now, step := time.Duration(0), 0.0
		look := func() offset {
			sent := now
			there := sent + time.Duration(rand.Int64N(int64(5*time.Millisecond)))
			now = there + time.Duration(rand.Int64N(int64(5*time.Millisecond)))
			return newOffset(int64(1e12+millis(there)*1000*speed+step*1000), sent, now)
		}
		for range 60 {
			n := look()
			if !o.within(n) {
				t.Fatalf("a clock of speed %f is taken to have stepped after %v", speed, now)
			}
			o.add(n, 20*time.Second)
			now += time.Duration(rand.Int64N(int64(time.Second)))
		}
		step = 40 + rand.Float64()*1e5
		if rand.IntN(2) == 0 {
			step = -step
		}
		if o.within(look()) {
			t.Fatalf("a step of %f ms is not seen", step)
		}
		if len(o.entries) > 25 {
			t.Fatalf("%d offsets are kept of 20s", len(o.entries))
		}
	}
}

// takeBarely takes a lock on the first three of five masters.
func (c *cluster) takeBarely(op Op) {
	c.t.Helper()
	c.masters[3].kill()
	c.masters[4].kill()
	c.want(do(c.q, op), Won)
	c.masters[3].mend()
	c.masters[4].mend()
}

// M5, why 19: a step that ends a lock on one master, in either direction and
// of any size, gives it to nobody else.
func TestM5StepOfOneMaster(t *testing.T) {
	for _, step := range []time.Duration{5 * time.Minute, 2900 * time.Millisecond, 400 * time.Millisecond, -time.Minute} {
		inBubble(t, 5, func(c *cluster) {
			c.takeBarely(acquire("k", "t", 2*time.Second))
			time.Sleep(time.Second)
			c.masters[0].set(func() { c.masters[0].offset = step })
			for began := time.Now(); time.Since(began) < 900*time.Millisecond; time.Sleep(10 * time.Millisecond) {
				if o := do(c.q, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
					t.Fatalf("a second holder after a step of %v", step)
				}
			}
			time.Sleep(3 * time.Second)
			if s := c.state(0); s.State != Quarantine || s.Reason != whyClock {
				t.Errorf("after a step of %v the status is %+v", step, s)
			}
			c.want(do(c.q, acquire("k2", "u", 2*time.Second)), Won)
			time.Sleep(15 * time.Second)
			if s := c.state(0); s.State != Voting {
				t.Errorf("later the status is %+v", s)
			}
		})
	}
}

// M5: a redlockd that starts right after a step has no line to see it by. Until
// the one that has can tell it in the mark, it takes, extends and denies
// nothing by that master's word; where nobody else is connected it does not
// wait.
func TestM5StepBeforeTheFirstLook(t *testing.T) {
	inBubble(t, 5, func(c *cluster) {
		c.takeBarely(acquire("k", "t", 10*time.Second))
		time.Sleep(2 * time.Second)
		for _, f := range c.masters {
			f.set(func() { f.others = 1 })
		}
		c.masters[0].set(func() { c.masters[0].offset = time.Minute })
		other := c.redlockd()
		for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
			if o := do(other, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder %v after the start", time.Since(began))
			}
			if o := do(other, Op{Kind: Extend, Key: "k", Token: "t", TTL: 10 * time.Second}); o.Verdict == Absent || o.Verdict == Held {
				t.Fatalf("the holder is told that it has no lock %v after the start", time.Since(began))
			}
			if o := do(other, Op{Kind: Read, Key: "k"}); o.Verdict == Absent {
				t.Fatalf("a read finds no lock %v after the start", time.Since(began))
			}
		}
		c.want(do(other, acquire("other", "u", time.Second)), Won)
		for _, f := range c.masters {
			f.set(func() { f.others = 0 })
		}
		alone, began := c.redlockd(), time.Now()
		if err := alone.WaitReady(context.Background()); err != nil || time.Since(began) > lookEvery {
			t.Errorf("alone with its masters a redlockd waits %v, %v", time.Since(began), err)
		}
	})
}

// M5: so does one that was cut off from a master for long: its line allows for
// what the clock may have drifted.
func TestM5StepAfterALongAbsence(t *testing.T) {
	inBubble(t, 5, func(c *cluster) {
		var mu sync.Mutex
		var link net.Conn
		cut := false
		c.cfg.Masters = slices.Clone(c.cfg.Masters)
		c.cfg.Masters[0].dial = func() (net.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			if cut {
				return nil, errors.New("no route to host")
			}
			var err error
			link, err = c.masters[0].dial()
			return link, err
		}
		set := func(now bool) {
			mu.Lock()
			defer mu.Unlock()
			if cut = now; cut {
				_ = link.Close()
			}
		}
		for _, f := range c.masters {
			f.set(func() { f.others = 1 })
		}
		other := c.redlockd()
		time.Sleep(5 * time.Second)
		set(true)
		time.Sleep(5 * time.Minute)
		c.takeBarely(acquire("k", "t", 2*time.Second))
		time.Sleep(1200 * time.Millisecond)
		for _, f := range c.masters[1:] {
			f.set(func() { f.delay = 5 * time.Millisecond })
		}
		// The drift allows for 3 s in 5 min.
		c.masters[0].set(func() { c.masters[0].offset = 2500 * time.Millisecond })
		set(false)
		for began := time.Now(); time.Since(began) < 750*time.Millisecond; time.Sleep(2 * time.Millisecond) {
			if o := do(other, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder %v after the connection", time.Since(began))
			}
		}
		time.Sleep(20 * time.Second)
		c.want(do(other, acquire("k", "u", time.Second)), Won)
	})
}

// M5: a database that is used for the first time knows the clocks as the others
// do.
func TestM5StepBeforeTheFirstUseOfADatabase(t *testing.T) {
	inBubble(t, 5, func(c *cluster) {
		other := c.redlockd()
		time.Sleep(5 * time.Second)
		open := make(chan struct{})
		c.q.Open(3, func() { close(open) })
		<-open
		k := acquire("k", "t", 10*time.Second)
		k.DB = 3
		c.takeBarely(k)
		time.Sleep(1900 * time.Millisecond)
		c.masters[0].set(func() { c.masters[0].offset = time.Minute })
		for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
			u := acquire("k", "u", 2*time.Second)
			u.DB = 3
			if o := do(other, u); o.Verdict == Won {
				t.Fatalf("a second holder %v after the first use", time.Since(began))
			}
		}
	})
}

// M5: what went out before the clock had settled counts as before, whenever
// its answer comes.
func TestM5AskedBeforeTheClockSettled(t *testing.T) {
	inBubble(t, 5, func(c *cluster) {
		c.takeBarely(acquire("k", "t", 10*time.Second))
		time.Sleep(2 * time.Second)
		c.masters[0].Del("k") // as a step of its clock would
		for _, f := range c.masters {
			f.set(func() { f.delay = 5 * time.Millisecond })
		}
		settle := func(settled bool) {
			l := c.q.databases[0].Load().list().lanes[0]
			l.mu.Lock()
			l.settled = settled
			l.mu.Unlock()
		}
		settle(false)
		out := start(c.q, Op{Kind: Read, Key: "k"})
		time.Sleep(time.Millisecond)
		settle(true)
		if o := <-out; o.Verdict == Absent {
			t.Errorf("the lock is gone by the word of a master whose clock was being watched")
		}
	})
}

// M5: the mark tells of a step as soon as others may rely on it, whatever the
// time between the look that sees it and those at the other masters.
func TestM5StepIsToldInTime(t *testing.T) {
	inBubble(t, 5, func(c *cluster) {
		for _, f := range c.masters {
			f.set(func() { f.delay = time.Millisecond })
			time.Sleep(170 * time.Millisecond)
		}
		for at, f := range c.masters {
			time.Sleep(time.Duration(at) * 190 * time.Millisecond)
			f.set(func() { f.offset += time.Minute })
			began := time.Now()
			for {
				m, err := parseMark(f.holds(MarkKey))
				if err == nil && !m.real {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			if took := time.Since(began); took > c.cfg.settling() {
				t.Errorf("the step of master %s was told after %v, others wait %v", f.name, took, c.cfg.settling())
			}
			time.Sleep(time.Minute)
		}
	})
}

// M5: when a quorum jumps together it may be our own pause: this redlockd
// grants nothing for the greatest hold, touches no mark, and goes on with
// releases, reads and extends; another serves.
func TestM5QuorumJumpsTogether(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		synctest.Wait()
		time.Sleep(time.Second)
		for _, f := range c.masters {
			f.set(func() { f.offset = 500 * time.Millisecond })
		}
		time.Sleep(2 * time.Second)
		o := c.want(do(c.q, acquire("other", "t", 10*time.Second)), Undecided)
		if !strings.Contains(o.Err.Error(), "stood still") {
			t.Errorf("error is %q", o.Err)
		}
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 10 * time.Second}), Won)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		c.want(do(c.q, release("k", "t")), Won)
		for i := range c.masters {
			if s := c.state(i); s.State != Voting {
				t.Errorf("the mark was touched: %+v", s)
			}
		}
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		c.want(do(other, acquire("other", "u", 10*time.Second)), Won)
		c.want(do(other, release("other", "u")), Won)
		time.Sleep(25 * time.Second)
		c.want(do(c.q, acquire("other", "t", 10*time.Second)), Won)
	})
}

// M5: so does a database that is used for the first time after that.
func TestM5QuorumJumpedBeforeTheFirstUseOfADatabase(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		time.Sleep(2 * time.Second)
		for _, f := range c.masters {
			f.set(func() { f.offset = 500 * time.Millisecond })
		}
		time.Sleep(2 * time.Second)
		open := make(chan struct{})
		c.q.Open(3, func() { close(open) })
		<-open
		time.Sleep(2 * time.Second)
		k := acquire("k", "t", 10*time.Second)
		k.DB = 3
		o := c.want(do(c.q, k), Undecided)
		if !strings.Contains(o.Err.Error(), "stood still") {
			t.Errorf("error is %q", o.Err)
		}
	})
}

// M4, M5: a master that lost nothing in a restart is in quarantine all the same
// if its clock has stepped meanwhile.
func TestM5StepInARestartThatLosesNothing(t *testing.T) {
	inBubble(t, 5, func(c *cluster) {
		f := c.masters[0]
		f.set(func() { f.aof = true })
		c.takeBarely(acquire("k", "t", 10*time.Second))
		time.Sleep(2 * time.Second)
		f.kill()
		f.set(func() { f.offset = time.Minute })
		f.startWithMemory()
		for began := time.Now(); time.Since(began) < 7*time.Second; time.Sleep(10 * time.Millisecond) {
			if o := do(c.q, acquire("k", "u", 2*time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder %v after the restart", time.Since(began))
			}
		}
	})
}

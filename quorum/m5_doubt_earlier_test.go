package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// doubted returns how many of the masters' marks record a doubt.
func (c *testCluster) doubted() (n int) {
	for _, f := range c.masters {
		if m, err := mark.Parse(f.holds(mark.Key)); err == nil && m.Doubt > 0 {
			n++
		}
	}
	return n
}

// TestM5WitnessOfAnEarlierDoubt checks that who could tell that no clock had stepped when a
// doubt was written takes back no later one, which came before it saw the first one gone:
// meanwhile it saw the clocks step itself. A redlockd that has just started would give A's
// lock to B (M5, why 98).
func TestM5WitnessOfAnEarlierDoubt(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		s := &stoppable{}
		paused := c.redlockdBy(s.clock())
		time.Sleep(5 * time.Second)
		c.want(do(c.q, acquire("k", "A", 50*time.Second)), Won)
		time.Sleep(3 * time.Second)
		s.mu.Lock()
		s.skipped += 900 * time.Millisecond
		s.mu.Unlock()
		for c.doubted() < 3 {
			time.Sleep(time.Millisecond)
		}
		for c.doubted() > 0 { // the other one takes them back
			start(paused, Op{Kind: Read, Key: "other"})
			time.Sleep(time.Millisecond)
		}
		for _, f := range c.masters {
			f.set(func() { f.Offset += time.Minute })
		}
		for range 20 {
			start(paused, Op{Kind: Read, Key: "other"})
			time.Sleep(5 * time.Millisecond)
		}
		fresh := c.redlockd()
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			if o := do(fresh, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder")
			}
		}
	})
}

// TestM5StepSeenWhileAMarkIsWritten checks that who writes a mark again, because another
// instance has written a doubt into it meanwhile, goes by what its newest look shows: the
// clock has stepped. Otherwise it takes the doubt back. A has a b, and once it is gone, a
// redlockd that has just started gives B a c (M5, why 98).
func TestM5StepSeenWhileAMarkIsWritten(t *testing.T) {
	for after := time.Duration(0); after < 90*time.Millisecond; after += 3 * time.Millisecond {
		inBubble(t, 3, func(c *testCluster) {
			a, b := c.masters[0], c.masters[1]
			k := c.throughCable(0)
			long := a.newWire()
			long.Away(30 * time.Millisecond)
			k.dial = long.Dial
			far := c.redlockd()
			c.cfg.Masters[0].Dial = a.dial
			time.Sleep(3 * time.Second)
			c.masters[2].kill()
			c.want(do(c.q, acquire("k", "A", 50*time.Second)), Won)
			c.masters[2].mend()
			time.Sleep(3 * time.Second)
			start(far, acquire("long", "t", 4*time.Minute)) // which the marks do not record yet
			time.Sleep(after)
			a.set(func() { a.Offset += time.Minute })
			b.set(func() { b.Offset += time.Minute })
			for range 300 {
				start(c.q, Op{Kind: Read, Key: "other"})
				time.Sleep(time.Millisecond)
				if c.doubted() == 2 {
					break
				}
			}
			for range 300 {
				time.Sleep(time.Millisecond)
				if c.doubted() < 2 {
					k.cut(true) // it is gone
					break
				}
			}
			fresh := c.redlockd()
			for range 30 {
				time.Sleep(100 * time.Millisecond)
				if o := do(fresh, acquire("k", "B", time.Second)); o.Verdict == Won {
					t.Fatalf("stepped %v after an acquire: a second holder", after)
				}
			}
		})
	}
}

package quorum

import (
	"sync"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
)

// suspendable is the clock of a host that does not count the time while it is suspended.
type suspendable struct {
	mu    sync.Mutex
	began clock.Clock
	// lost is for how long the host was suspended, since is since when it is; 0 if it runs.
	lost, since time.Duration
}

func newSuspendable() *suspendable { return &suspendable{began: clock.Monotonic()} }

func (s *suspendable) now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since > 0 {
		return s.since - s.lost
	}
	return s.began() - s.lost
}

func (s *suspendable) suspend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = s.began()
}

func (s *suspendable) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost, s.since = s.lost+s.began()-s.since, 0
}

// votesAll checks that the healthy redlockd, too, has the vote of every master.
func (c *testCluster) votesAll() {
	c.t.Helper()
	for _, m := range c.q.Status().Masters {
		if m.State != Voting {
			c.t.Errorf("%s lost nothing, and is in %s: %s, for %v", m.Name, m.State, m.Reason, m.Wait)
		}
	}
}

// TestM5PauseThatBreaksConnections checks that a redlockd that was suspended, and has lost
// its connections meanwhile, takes none of the masters, which it reaches one by one, for one
// whose clock stepped: another one watched them all the time (M5, why 102).
func TestM5PauseThatBreaksConnections(t *testing.T) {
	for range 4 { // in any order
		inBubble(t, 3, func(c *testCluster) {
			direct, host := c.cfg, newSuspendable()
			ways := c.overWays()
			pausing := c.redlockdBy(host.now)
			c.cfg = direct
			time.Sleep(5 * time.Second)
			c.want(do(pausing, acquire("l", "A", time.Minute)), Won)
			time.Sleep(5 * time.Second)
			host.suspend()
			for _, w := range ways {
				w.leads(noRoute)
			}
			time.Sleep(3 * time.Minute)
			host.resume()
			for i, w := range ways {
				w.leads(c.masters[i].dial)
			}
			time.Sleep(5 * time.Second)
			c.votesAll()
		})
	}
}

// overWays has redlockd that start from now on reach the masters over ways that can be
// changed.
func (c *testCluster) overWays() []*way {
	ways, list := make([]*way, len(c.cfg.Masters)), make([]Master, len(c.cfg.Masters))
	for i, m := range c.cfg.Masters {
		ways[i] = &way{dial: m.Dial}
		m.Dial = ways[i].connect
		list[i] = m
	}
	c.cfg.Masters = list
	return ways
}

// TestM5StepsSeenOneByOne checks that a redlockd that was cut off, sees that a's clock
// stepped, and cannot tell whether those of the others did, has all of them doubted: one that
// starts then would give A's lock, which b has lost too, to B (M5, why 103).
func TestM5StepsSeenOneByOne(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		direct := c.cfg
		c.stop(c.q)
		ways := c.overWays()
		c.q = c.redlockd()
		c.cfg = direct
		c.ready()
		c.aOnTwo(4 * time.Minute)
		time.Sleep(time.Second)
		for i, w := range ways {
			w.leads(noRoute)
			if i < 2 {
				c.masters[i].set(func() { c.masters[i].Offset += 5 * time.Minute })
			}
		}
		for i, w := range ways {
			w.leads(c.masters[i].dial)
			time.Sleep(2 * time.Second)
		}
		c.stop(c.q)
		c.q = c.redlockd()
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			if o := do(c.q, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatalf("a second holder")
			}
		}
	})
}

// aOnTwo takes A's lock on a and b, while c is away.
func (c *testCluster) aOnTwo(ttl time.Duration) {
	c.t.Helper()
	c.masters[2].kill()
	c.want(do(c.q, acquire("k", "A", ttl)), Won)
	c.masters[2].mend()
}

// TestM5SilenceIsReckonedAnew checks that a redlockd that was suspended grants again once all
// locks of before are over, and not after max_ttl, though no master was in view when it saw
// its pause; so does one that starts then (M5, why 104).
func TestM5SilenceIsReckonedAnew(t *testing.T) {
	for _, tt := range []struct {
		name string
		away func(*testCluster, []*way) (back func())
	}{
		{"its connections break", func(c *testCluster, ways []*way) func() {
			for _, w := range ways {
				w.leads(noRoute)
			}
			return func() {
				for i, w := range ways {
					w.leads(c.masters[i].dial)
				}
			}
		}},
		{"the masters are out of memory", func(c *testCluster, _ []*way) func() {
			for _, f := range c.masters {
				f.refuse("OOM command not allowed when used memory > 'maxmemory'.")
			}
			return func() {
				time.Sleep(time.Minute)
				for _, f := range c.masters {
					f.refuse("")
				}
			}
		}},
	} {
		inBubble(t, 3, func(c *testCluster) {
			host := newSuspendable()
			c.stop(c.q)
			direct := c.cfg
			ways := c.overWays()
			c.q = c.redlockdBy(host.now)
			c.cfg = direct
			c.ready()
			const ttl = 4 * time.Minute
			c.want(do(c.q, acquire("k", "A", ttl)), Won)
			time.Sleep(5 * time.Second)
			host.suspend()
			back := tt.away(c, ways)
			time.Sleep(time.Second)
			host.resume()
			back()
			resumed := time.Now()
			for _, q := range []*Quorum{c.q, c.redlockd()} {
				for do(q, acquire("other", "B", time.Second)).Verdict != Won {
					if time.Since(resumed) > 2*ttl {
						t.Fatalf("%s: nothing is granted: %+v", tt.name, q.Status().Masters)
					}
					time.Sleep(time.Second)
				}
				if time.Since(resumed) < ttl {
					t.Errorf("%s: granted after %v, while a lock of %v may have ended early", tt.name, time.Since(resumed), ttl)
				}
			}
		})
	}
}

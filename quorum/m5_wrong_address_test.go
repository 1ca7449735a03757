package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// TestM5WrongAddress checks that a redlockd that reached other servers under the names of
// masters for a while, whose clocks differ a little, takes no vote from the masters when its
// addresses are right again: they have lost nothing (M4, M5, why 90).
func TestM5WrongAddress(t *testing.T) {
	const skew = 300 * time.Millisecond
	for _, tt := range []struct {
		name  string
		leads func(c *testCluster, ways map[string]*way)
	}{
		{"one to an empty server", func(c *testCluster, ways map[string]*way) {
			x := c.server("run-x")
			x.Offset = skew
			ways["a"].leads(x.dial)
		}},
		{"two to one another", func(c *testCluster, ways map[string]*way) {
			ways["a"].leads(c.masters[1].dial)
			ways["b"].leads(c.masters[0].dial)
		}},
		{"all to replicas", func(c *testCluster, ways map[string]*way) {
			for i, f := range c.masters[:3] {
				x := c.server("run-x" + f.Name)
				x.Replica, x.Offset = true, time.Duration(i+1)*skew
				x.Set(mark.Key, f.holds(mark.Key))
				ways[f.Name].leads(x.dial)
			}
		}},
	} {
		inBubble(t, 3, func(c *testCluster) {
			for i, f := range c.masters {
				f.set(func() { f.Offset = time.Duration(i) * skew })
			}
			time.Sleep(20 * time.Minute)
			masters := c.masters
			second, ways := c.redlockdOver(c.cfg.Masters)
			time.Sleep(5 * time.Second)
			c.want(do(second, acquire("l", "A", time.Minute)), Won)
			tt.leads(c, ways)
			time.Sleep(20 * time.Second)
			for _, f := range masters {
				ways[f.Name].leads(f.dial)
			}
			time.Sleep(5 * time.Second)
			t.Log(tt.name)
			c.votesAll()
			c.want(do(second, acquire("k", "B", time.Second)), Won)
		})
	}
}

// TestM4UnfitBeforeARestart checks that a redlockd that saw that b was a replica does not let
// it vote when it is back as a master, also if another instance, which did not see it, has
// exempted it (M4).
func TestM4UnfitBeforeARestart(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, f := range c.masters {
			f.set(func() { f.AOF = true })
		}
		one, ways := c.redlockdOver(c.cfg.Masters)
		_, others := c.redlockdOver(c.cfg.Masters)
		c.stop(c.q)
		c.q = one
		c.ready()
		c.want(do(one, acquire("k", "A", time.Minute)), Won)
		time.Sleep(3 * time.Second)
		b := c.masters[1]
		others["b"].leads(noRoute)
		b.set(func() { b.Replica = true })
		time.Sleep(3 * time.Second)
		ways["b"].leads(noRoute)
		b.kill()
		b.set(func() { b.Replica = false })
		b.startWithMemory()
		others["b"].leads(b.dial)
		time.Sleep(5 * time.Second)
		ways["b"].leads(b.dial)
		for range 30 {
			time.Sleep(100 * time.Millisecond)
			if s := c.state(1); s.State == Voting {
				t.Fatalf("it votes: %+v", s)
			}
		}
	})
}

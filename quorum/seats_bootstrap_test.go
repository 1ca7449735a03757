package quorum

import (
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// begunAnew has all masters lose their memory a while later, and begins the cluster anew, by
// -bootstrap or by a redlockd that knows nothing of before.
func (c *testCluster) begunAnew(bootstrap bool) {
	c.t.Helper()
	c.stop(c.q)
	time.Sleep(time.Minute)
	for _, f := range c.masters[:len(c.cfg.Masters)] {
		f.kill()
		f.startEmpty()
	}
	if bootstrap {
		if err := cluster.Bootstrap(c.t.Context(), c.cfg, hclog.NewNullLogger()); err != nil {
			c.t.Fatal(err)
		}
	}
	c.q = c.redlockd()
	c.serves(c.q, len(c.cfg.Masters))
}

// TestM9SeatsOfBeforeTheMarksWereLost checks that a redlockd that was cut off while all
// masters were lost, and others began them anew, takes no seat back for servers that are gone
// (M9, M6, why 198).
func TestM9SeatsOfBeforeTheMarksWereLost(t *testing.T) {
	for i := range 10 { // which of two seats of one epoch is later depends on chance
		bootstrap := i%2 == 0
		inBubbleWith(t, 3, short, func(c *testCluster) {
			c.begunAnew(bootstrap)
			away, ways := c.redlockdOver(c.cfg.Masters)
			c.serves(away, 3)
			for _, w := range ways {
				w.leads(noRoute)
			}
			c.begunAnew(bootstrap)
			for i, name := range []string{"a", "b", "c"} {
				ways[name].leads(c.masters[i].dial)
			}
			for range 20 {
				time.Sleep(time.Second)
				if s := c.q.Status(); s.Voting != 3 {
					t.Fatalf("bootstrap %v: masters that lost nothing do not vote: %+v", bootstrap, s.Masters)
				}
			}
			c.serves(away, 3)
		})
	}
}

// TestM9ServerOfBeforeABootstrap checks that a server whose seat was recorded before all
// other masters were lost does not vote by that seat in the cluster that was made anew with
// another server under its name (M9, M6, why 199).
func TestM9ServerOfBeforeABootstrap(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *Config) { cfg.MaxTTL = 30 * time.Second }, func(c *testCluster) {
		list := c.moved("a", c.server("run-new"))
		moved, ways := c.redlockdOver(list)
		c.stop(c.q)
		c.serves(moved, 3)
		ways["b"].leads(noRoute)
		ways["c"].leads(noRoute)
		c.begunAnew(true)
		old, oldWays := c.redlockdOver(c.cfg.Masters)
		c.serves(old, 3)
		c.stop(c.q)
		oldWays["c"].leads(noRoute)
		time.Sleep(time.Second)
		c.want(do(old, acquire("k", "A", 30*time.Second)), Won) // on the old a, and b
		ways["c"].leads(c.masters[2].dial)
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			if o := do(moved, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatal("a second holder")
			}
		}
	})
}

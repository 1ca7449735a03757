package quorum

import (
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// TestM6BootstrapBesideARunningRedlockd checks that -bootstrap succeeds at the first
// try, whenever it runs, beside a running redlockd that raises the beats of the pending
// marks meanwhile (M4, M6), or lets the last master vote by the marks of the others (why 107).
func TestM6BootstrapBesideARunningRedlockd(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for i := range 40 {
			c.stop(c.q)
			for _, f := range c.masters {
				f.kill()
				f.startEmpty()
				f.away(10 * time.Millisecond)
			}
			c.q = c.redlockd()
			c.q.Open(3, func() {})
			time.Sleep(5*time.Second + time.Duration(i)*25*time.Millisecond)
			before := c.markOf(0)
			if err := cluster.Bootstrap(c.t.Context(), c.cfg, hclog.NewNullLogger()); err != nil {
				t.Errorf("bootstrap at second %v: %v", 5+float64(i)*0.025, err)
			}
			if m := c.markOf(0); m.ID == before.ID && m.Beat < before.Beat {
				t.Errorf("the beat goes back from %d to %d (M4, why 89)", before.Beat, m.Beat)
			}
			if m := c.markOf(0); m.ID == before.ID && !slices.Equal(m.DBs, []int{3}) {
				t.Errorf("the databases in use are %v, want that database 3, which has its seal, is one (M3)", m.DBs)
			}
			time.Sleep(2 * time.Second)
			c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		}
	})
}

package quorum

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// TestM7OldRedis checks that a Redis before 6.2 is not used, since it would take its
// mark and then refuse every lock, and that both the status and -bootstrap state the
// reason (M7).
func TestM7OldRedis(t *testing.T) {
	const why = "is Redis 6.0.16, 6.2 or newer is needed"
	inBubble(t, 3, func(c *testCluster) {
		old := c.masters[2]
		old.kill()
		old.set(func() { old.Version = "6.0.16" })
		old.startEmpty()
		time.Sleep(5 * time.Second)
		if s := c.state(2); s.State != Refused || s.Reason != why {
			t.Errorf("status is %+v", s)
		}
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		for _, f := range c.masters {
			f.kill()
			f.startEmpty()
		}
		err := cluster.Bootstrap(c.t.Context(), c.cfg, hclog.NewNullLogger())
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("bootstrap over it: %v", err)
		}
	})
}

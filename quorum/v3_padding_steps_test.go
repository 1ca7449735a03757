package quorum

import (
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// TestV3StepWithinARoundTripOfAnother is trace 19: A gets the lock on a b, with the small
// padding of a short timeout. R2, with a long timeout and far from the masters, joins. A step
// of a's clock that is longer than that padding, but shorter than R2's round trip, does not
// show at R2, so none of its masters may vote.
func TestV3StepWithinARoundTripOfAnother(t *testing.T) {
	const ttl, step, way = 60 * time.Second, 850 * time.Millisecond, 450 * time.Millisecond
	for phase := range 10 {
		inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.ClockDrift = 0.001 }, func(c *testCluster) {
			time.Sleep(time.Duration(phase) * 100 * time.Millisecond)
			c.masters[2].kill()
			sent := time.Now()
			c.want(do(c.q, acquire("k", "A", ttl)), Won)
			c.masters[2].mend()
			far := c.far(way)
			time.Sleep(time.Until(sent.Add(ttl - 600*time.Millisecond - way)))
			for _, m := range far.Status().Masters {
				if m.State == Voting {
					t.Errorf("phase %d: %s votes, though a round trip hides a step", phase, m.Name)
				}
			}
			taken := start(far, acquire("k", "B", time.Second))
			time.Sleep(time.Until(sent.Add(ttl - 650*time.Millisecond)))
			c.masters[0].set(func() { c.masters[0].Offset += step })
			if o := <-taken; o.Verdict == Won && time.Since(sent) < ttl {
				t.Errorf("phase %d: a second holder", phase)
			}
		})
	}
}

// far starts a redlockd with a long timeout, whose way to the masters takes this long.
func (c *testCluster) far(way time.Duration) *Quorum {
	brief := c.cfg
	defer func() { c.cfg = brief }()
	c.cfg.Timeout, c.cfg.RetryBudget = 2*time.Second, 2*time.Second
	c.cfg.Masters = slices.Clone(c.cfg.Masters)
	for i, f := range c.masters {
		w := f.newWire()
		w.Away(way)
		c.cfg.Masters[i].Dial = w.Dial
	}
	return c.redlockd()
}

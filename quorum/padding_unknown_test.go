package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// joinsAndRestarts starts a redlockd with a longer timeout, and one more in its place: the
// second one has seen no mark with the padding of before.
func (c *testCluster) joinsAndRestarts(meanwhile func()) *Quorum {
	c.t.Helper()
	c.cfg.Timeout = time.Second
	first := c.redlockd()
	time.Sleep(3 * time.Second)
	meanwhile()
	c.stop(first)
	return c.redlockd()
}

// toldToTheEnd fails if A's lock on k, asked for at sent with this TTL, is told to be over
// before that.
func (c *testCluster) toldToTheEnd(q *Quorum, sent time.Time, ttl time.Duration) {
	c.t.Helper()
	for time.Since(sent) < ttl-10*time.Millisecond {
		if o := do(q, Op{Kind: Read, Key: "k"}); o.Verdict == Absent {
			c.t.Fatalf("A's lock is told to be over after %v of %v", time.Since(sent), ttl)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestV3LeastPaddingHiddenByANewMark checks that a mark which records no least padding does
// not hide what the others record (V3, P4, why 24): a restarted empty after a redlockd with a
// longer timeout had joined.
func TestV3LeastPaddingHiddenByANewMark(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.MaxTTL = time.Minute }, func(c *testCluster) {
		c.want(do(c.q, acquire("before", "A", time.Minute)), Won)
		sent := time.Now()
		c.want(do(c.q, acquire("k", "A", time.Minute)), Won)
		later := c.joinsAndRestarts(func() {
			c.masters[0].kill()
			c.masters[0].startEmpty()
			time.Sleep(2 * time.Second)
		})
		c.toldToTheEnd(later, sent, time.Minute)
	})
}

// TestV3LeastPaddingOfANewCluster checks that the padding of before is not forgotten if a
// redlockd with a longer timeout joins while no mark records a least padding yet (V3, P4,
// why 25).
func TestV3LeastPaddingOfANewCluster(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.MaxTTL = time.Minute }, func(c *testCluster) {
		c.want(do(c.q, acquire("before", "A", time.Minute)), Won)
		for _, f := range c.masters {
			f.kill()
			f.startEmpty()
		}
		time.Sleep(time.Minute)
		c.stop(c.q)
		c.q = c.redlockd() // it has not seen the marks for as long as a lock may last
		c.serves(c.q, 3)
		sent := time.Now()
		c.want(do(c.q, acquire("k", "A", time.Minute)), Won)
		later := c.joinsAndRestarts(func() {})
		c.toldToTheEnd(later, sent, time.Minute)
	})
}

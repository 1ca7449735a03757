package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// endsInTime fails if A's lock on k, asked for at sent with a TTL of a minute, is told to be
// over before that.
func (c *testCluster) endsInTime(q *Quorum, sent time.Time) {
	c.t.Helper()
	time.Sleep(time.Until(sent.Add(59 * time.Second)))
	for time.Since(sent) < 59990*time.Millisecond {
		if o := do(q, Op{Kind: Read, Key: "k"}); o.Verdict == Absent {
			c.t.Fatalf("A's lock is told to be over after %v", time.Since(sent))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// longPadding is a cluster of redlockd with a long timeout; what starts later has a short one.
func longPadding(cfg *cluster.Config) { cfg.MaxTTL, cfg.Timeout = time.Minute, time.Second }

// TestV3LeastPaddingOfMarksThatWereLost checks that what a redlockd with a longer timeout
// remembers of the least padding does not count: it was cut off while all masters were lost
// and begun anew by one with a shorter timeout (V3, P4, why 23).
func TestV3LeastPaddingOfMarksThatWereLost(t *testing.T) {
	inBubbleWith(t, 3, longPadding, func(c *testCluster) {
		c.stop(c.q)
		away, ways := c.redlockdOver(c.cfg.Masters)
		c.serves(away, 3)
		time.Sleep(time.Minute) // it has seen the greatest padding for long enough itself
		for _, w := range ways {
			w.leads(noRoute)
		}
		for _, f := range c.masters {
			f.kill()
			f.startEmpty()
		}
		c.cfg.Timeout = 50 * time.Millisecond
		short := c.redlockd()
		c.serves(short, 3)
		sent := time.Now()
		c.want(do(short, acquire("k", "A", time.Minute)), Won)
		for i, name := range []string{"a", "b", "c"} {
			ways[name].leads(c.masters[i].dial)
		}
		c.endsInTime(away, sent)
	})
}

// TestV3LeastPaddingOfOneMark checks that the least padding of one mark does not count either
// where the others began anew with less (V3, P4, why 23).
func TestV3LeastPaddingOfOneMark(t *testing.T) {
	inBubbleWith(t, 5, longPadding, func(c *testCluster) {
		c.stop(c.q)
		for _, f := range c.masters[:4] {
			f.kill()
			f.startEmpty()
		}
		c.cfg.Timeout = 50 * time.Millisecond
		short := c.redlockdOf(without(c.cfg.Masters, "e"))
		for short.Status().Voting < 4 {
			time.Sleep(time.Second)
		}
		sent := time.Now()
		c.want(do(short, acquire("k", "A", time.Minute)), Won)
		fresh := c.redlockd()
		c.endsInTime(fresh, sent)
	})
}

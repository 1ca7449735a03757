package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// M8: f bears that the change is final, and a to e come back with disks of when it was
// announced, by which the old list counts as well: A on c d e, B on a b f.
func TestM8FinalBesideAnnounced(t *testing.T) {
	inBubbleWith(t, 5, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
		list := c.listed("e", c.join("f"))
		c.change(c.q, list)
		c.reaches(c.q, 2, "announced")
		time.Sleep(time.Second)
		disks := make([]string, 5)
		for i, f := range c.masters[:5] {
			disks[i], _ = f.Get(mark.Key)
		}
		c.reaches(c.q, 2, "final")
		c.serves(c.q, 5)
		c.stop(c.q)
		for i, f := range c.masters[:5] {
			f.kill()
			if err := f.Set(mark.Key, disks[i]); err != nil {
				t.Fatal(err)
			}
			f.startWithMemory()
		}
		old, ways := c.redlockdOver(c.cfg.Masters)
		time.Sleep(2 * time.Minute)
		ways["a"].leads(noRoute)
		ways["b"].leads(noRoute)
		time.Sleep(time.Second)
		c.want(do(old, acquire("k", "A", 30*time.Second)), Won)
		taken := time.Now()
		second := c.redlockdOf(list)
		for time.Since(taken) < 29*time.Second {
			if o := do(second, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatalf("two holders after %v", time.Since(taken))
			}
			time.Sleep(250 * time.Millisecond)
		}
		c.serves(second, 5)
	})
}

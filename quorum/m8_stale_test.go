package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
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
			disks[i] = f.holds(mark.Key)
		}
		c.reaches(c.q, 2, "final")
		c.serves(c.q, 5)
		c.stop(c.q)
		for i, f := range c.masters[:5] {
			f.kill()
			f.Set(mark.Key, disks[i])
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

// M8: a master that was cut off while the list changed twice votes again, in all databases.
func TestM8AwayForTwoChanges(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		open(c.q, 3)
		c.masters[0].kill()
		for i, name := range []string{"f", "g"} {
			c.cfg.Masters = c.listed(string(rune('d'+i)), c.join(name))
			c.change(c.q, c.cfg.Masters)
			c.reaches(c.q, 2+i, "final")
			time.Sleep(10 * time.Second)
		}
		c.masters[0].mend()
		c.serves(c.q, 5)
		time.Sleep(10 * time.Second)
		c.masters[5].kill()
		c.masters[6].kill()
		time.Sleep(time.Second)
		c.want(do(c.q, Op{Kind: Acquire, DB: 3, Key: "k", Token: "t", TTL: time.Second}), Won)
	})
}

// M8: a master that bears a change which came to nothing, with a greater number than the one
// that was made while it was cut off, votes again.
func TestM8GreaterNumberThatCameToNothing(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		first := cluster.ListName(c.cfg.Masters)
		c.bears(3, mark.Generation{Number: 3, Phase: mark.Announced, Masters: cluster.ListName(c.listed("e", c.join("x"))), Before: first})
		c.masters[3].kill()
		list := c.listed("e", c.join("f"))
		c.change(c.q, list)
		c.reaches(c.q, 2, "final")
		c.masters[3].mend()
		c.serves(c.q, 5)
	})
}

// M8: the mark of another cluster's master is left as it is, though its list is older.
func TestM8MarkOfAnotherClusterIsLeft(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		c.change(c.q, c.listed("e", c.join("f")))
		c.reaches(c.q, 2, "final")
		raw := c.masters[0].holds(mark.Key)
		m, err := mark.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		other := m.With(func(c *mark.Mark) {
			c.ID, c.Generation = mark.NewID(), mark.FirstGeneration(mark.NameHash(c.Name))
		}).String()
		c.masters[0].Set(mark.Key, other)
		time.Sleep(time.Minute)
		if raw := c.masters[0].holds(mark.Key); raw != other {
			t.Errorf("the mark became %s", raw)
		}
	})
}

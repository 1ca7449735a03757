package quorum

import (
	"testing"
	"time"
)

// remembers has R1 see how c is replaced by x until a phase, and lose sight of a b c,
// which lose their marks and get new ones of the old list. Then A gets the lock on b c by that
// list. It returns R1, which sees a b again, and x.
func (c *testCluster) remembers(phase string) *Quorum {
	c.t.Helper()
	list := c.listed("c", c.join("x"))
	c.change(c.q, list)
	c.reaches(c.q, 2, "announced")
	one, ways := c.redlockdOver(without(list, "x"))
	c.reaches(one, 2, phase)
	for _, name := range []string{"a", "b"} {
		ways[name].leads(noRoute)
	}
	c.serves(c.q, 3)
	c.stop(c.q)
	c.loses(0, 1, 2)
	old, oldWays := c.redlockdOver(c.cfg.Masters)
	time.Sleep(2 * time.Minute)
	oldWays["a"].leads(noRoute)
	time.Sleep(time.Second)
	c.want(do(old, acquire("k", "A", 30*time.Second)), Won)
	ways["a"].leads(c.masters[0].dial)
	ways["b"].leads(c.masters[1].dial)
	ways["x"].leads(c.masters[3].dial)
	return one
}

// M8: what a redlockd remembers of the list is not written to marks that were begun anew
// with the list before meanwhile: A on b c, B on a x. Which of two servers has a seat of one
// epoch is left to their random ids, so it is tried several times.
func TestM8FinalThatIsRemembered(t *testing.T) {
	for _, phase := range []string{"closed", "closed", "closed", "final", "final", "final"} {
		inBubbleWith(t, 3, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
			one := c.remembers(phase)
			time.Sleep(5 * time.Second)
			for range 40 {
				if o := do(one, acquire("k", "B", time.Second)); o.Verdict == Won {
					t.Fatal(phase + ": two holders")
				}
				time.Sleep(250 * time.Millisecond)
			}
		})
	}
}

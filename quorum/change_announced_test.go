package quorum

import (
	"testing"
	"time"
)

// TestM8AnnouncedByWhatIsOutOfView checks that a redlockd does not write what it only
// remembers of a change (M8). R1 remembers that a change was announced on a b c: a leaves.
// a and b restart empty and begin anew with the old list of R2, which announces that c
// leaves; what it writes to d hangs in the network. If R1 wrote its change to d, A would
// have a b and B c d.
func TestM8AnnouncedByWhatIsOutOfView(t *testing.T) {
	inBubbleWith(t, 4, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 5*time.Second, 10*time.Minute }, func(c *testCluster) {
		slow := &detour{let: make(chan struct{})}
		defer slow.release()
		all := append([]Master(nil), c.cfg.Masters...)
		far := append([]Master(nil), all...)
		far[3].Dial = slow.dial(c.masters[3])
		old, oldWays := c.redlockdOver(far)
		one, ways := c.redlockdOver(all)
		time.Sleep(5 * time.Second)
		c.stop(c.q)
		for _, w := range oldWays {
			w.leads(noRoute)
		}
		ways["d"].leads(noRoute)
		c.change(one, over(c.listed("a"), ways))
		c.reaches(one, 2, "announced")
		for _, w := range ways {
			w.leads(noRoute)
		}
		c.loses(0, 1)
		oldWays["a"].leads(c.masters[0].dial)
		oldWays["b"].leads(c.masters[1].dial)
		oldWays["d"].leads(slow.dial(c.masters[3]))
		time.Sleep(time.Minute)
		c.change(old, over(c.listed("c"), oldWays))
		for slow.count() == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		ways["c"].leads(c.masters[2].dial)
		ways["d"].leads(c.masters[3].dial)
		fresh := c.redlockdOf(without(c.listed("c"), "d"))
		for range 40 {
			a, b := do(fresh, acquire("k", "A", 4*time.Second)), do(one, acquire("k", "B", 4*time.Second))
			if a.Verdict == Won && b.Verdict == Won {
				t.Fatal("two holders")
			}
			time.Sleep(500 * time.Millisecond)
		}
	})
}

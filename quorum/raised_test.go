package quorum

import (
	"testing"
	"time"
)

// TestV1RaisedBeforeItWasRefused checks that a client is not told that nothing was done where
// the first of two attempts has prolonged its lock, and the second is refused (V1, P4, why 172).
func TestV1RaisedBeforeItWasRefused(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", time.Minute)))
		c.tell(do(c.q, acquire("j", "t", 10*time.Second)))
		time.Sleep(time.Second)
		c.slow(time.Millisecond, 0, 1, 2)
		go func() {
			for i := range c.masters {
				for c.masters[i].TTL("j") < 20*time.Second {
					time.Sleep(10 * time.Microsecond)
				}
			}
			for _, f := range c.masters {
				_ = f.Set("k", "C")
				f.SetTTL("k", time.Minute)
			}
		}()
		c.want(do(c.q, Op{Kind: DecideAll, Keys: []string{"j", "k"}, DecideAll: func(s []State) []Change {
			if s[1].Token != "t" {
				return nil // the reply is 0
			}
			return []Change{{Key: "j", Token: "t", TTL: 40 * time.Second}, {Key: "k", Delete: true}}
		}}), Undecided)
	})
}

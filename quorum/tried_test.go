package quorum

import (
	"fmt"
	"testing"
	"time"
)

// TestV1TriedAgainAfterItMayHaveFreed checks that a client is not told that it had no locks
// where a try, of which one answer was lost, has freed them itself (V1, P4, why 173).
func TestV1TriedAgainAfterItMayHaveFreed(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		keys := []string{"j", "k"}
		for _, key := range keys {
			c.tell(do(c.q, acquire(key, "t", time.Minute)))
		}
		time.Sleep(time.Second)
		for _, key := range keys {
			c.masters[2].Del(key)
		}
		c.slow(time.Millisecond, 0, 2)
		c.slow(10*time.Millisecond, 1)
		go func() {
			for c.masters[0].holds("j") != "" {
				time.Sleep(10 * time.Microsecond)
			}
			c.masters[1].kill()
		}()
		c.want(do(c.q, Op{Kind: DecideAll, Keys: keys, DecideAll: func(s []State) []Change {
			if s[0].Token != "t" || s[1].Token != "t" {
				return nil // the reply is 0
			}
			return []Change{{Key: "j", Delete: true}, {Key: "k", Delete: true}}
		}}), Undecided)
	})
}

// TestV1FreedOnOneMaster checks the same where there is no time for another try, and where
// the next ones are refused everywhere: the locks are free on the one master where nobody had
// changed them.
func TestV1FreedOnOneMaster(t *testing.T) {
	for _, budget := range []time.Duration{0, 200 * time.Millisecond} {
		for _, looks := range []bool{true, false} {
			inBubble(t, 3, func(c *testCluster) {
				c.q.cfg.RetryBudget = budget
				keys := []string{"j", "k"}
				for _, key := range keys {
					c.tell(do(c.q, acquire(key, "t", time.Minute)))
				}
				time.Sleep(time.Second)
				tries := 0
				c.want(do(c.q, Op{Kind: DecideAll, Keys: keys, DecideAll: func(s []State) []Change {
					if looks && s[1].Token != "t" {
						return nil // the reply is 0
					}
					tries++
					for _, f := range c.masters[1:] { // another client, after the read
						_ = f.Set("k", fmt.Sprint("C", tries))
						f.SetTTL("k", time.Minute)
					}
					return []Change{{Key: "j", Delete: true}, {Key: "k", Delete: true}}
				}}), Undecided)
				if got := c.masters[0].holds("j"); got != "" {
					t.Errorf("j is still %q", got)
				}
			})
		}
	}
}

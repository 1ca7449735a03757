package quorum

import (
	"fmt"
	"testing"
	"time"
)

// V6: what has waited for its turn has little time left, and is answered when it cannot
// act any more, too.
func TestV6WaitedActsNotAfterItsAnswer(t *testing.T) {
	for _, tt := range []struct {
		name string
		op   Op
		way  time.Duration // of each fan-out
	}{
		{"shorten", extend("k", "A", time.Second), 9 * time.Millisecond}, // in the second one
		{"PEXPIRE", Op{Kind: Expire, Key: "k", TTL: time.Second}, 18 * time.Millisecond},
		{"DEL", Op{Kind: Remove, Key: "k"}, 18 * time.Millisecond},
		{"replace", Op{Kind: Extend, Key: "k", Token: "A", NewToken: "N", Replace: true, TTL: time.Second}, 18 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				one, other := c.two()
				c.want(do(one.Quorum, acquire("k", "A", 10*time.Second)), Won)
				const before, each = 5, 47 * time.Millisecond
				one.farther(each)
				for i := range before {
					start(one.Quorum, release("k", fmt.Sprint(i)))
				}
				out := start(one.Quorum, tt.op)
				time.Sleep(before*each - time.Millisecond)
				one.farther(tt.way)
				c.want(<-out, Undecided)
				one.farther(0)
				// The client's next, unless the first was carried out.
				o := do(other, extend("k", "A", 20*time.Second))
				time.Sleep(1500 * time.Millisecond)
				if n := c.copies("k", "A"); o.Verdict == Won && n != 3 {
					t.Errorf("%d copies of the lock that was told after that, want 3", n)
				}
			})
		})
	}
}

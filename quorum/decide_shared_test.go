package quorum

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// takeUnlessHeld is an acquire by a script that reads first, to tell who has the lock.
func takeUnlessHeld(token string) Op {
	op := takeAndTell(token)
	return Op{Kind: Decide, Key: op.Key, Decide: op.Decide}
}

// TestV7ReadFirstPollers checks that pollers by commands that read first share what they read,
// as long as they do nothing, so that neither they nor the holder's release wait too long (V7,
// why 38).
func TestV7ReadFirstPollers(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", time.Minute)))
		c.slow(5*time.Millisecond, 0, 1, 2)
		var outs []<-chan *Outcome
		skip := len(c.masters[0].commands(0))
		for i := range 200 {
			outs = append(outs, start(c.q, takeUnlessHeld(fmt.Sprint("A", i))))
		}
		released := start(c.q, release("k", "t"))
		for i, out := range outs {
			if o := <-out; o.Verdict != Held || o.State.Token != "t" {
				t.Errorf("%d: %v of %q, %v", i, o.Verdict, o.State.Token, o.Err)
			}
		}
		c.want(<-released, Won)
		reads := 0
		for _, line := range c.masters[0].commands(skip) {
			if strings.HasPrefix(line, "EVAL") && strings.HasSuffix(line, " k") {
				reads++
			}
		}
		if reads < 200/(maxDeciding+1) || reads > 10 {
			t.Errorf("%d reads for 200 polls, of which %d share one at most", reads, maxDeciding+1)
		}
	})
}

// TestS1ReadFirstInOrder checks that of two commands that a client pipelines, the second one is
// not told what another client's command has read before the first one acts (S1, V7).
func TestS1ReadFirstInOrder(t *testing.T) {
	tell := Op{Kind: Decide, Key: "k", Decide: func(State) Op { return Op{Kind: Read} }}
	for _, before := range []int{0, 1} {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("warm", "t", time.Second)), Won)
			c.slow(time.Millisecond, 0, 1, 2)
			busy := start(c.q, Op{Kind: Read, Key: "k"})
			for range before {
				start(c.q, tell)
			}
			taken, told := start(c.q, takeUnlessHeld("t")), start(c.q, tell)
			c.want(<-busy, Absent)
			c.want(<-taken, Won)
			if o := c.want(<-told, Held); o.State.Token != "t" {
				t.Errorf("%d before: the token is %q", before, o.State.Token)
			}
		})
	}
}

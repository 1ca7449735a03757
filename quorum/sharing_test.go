package quorum

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestV7LongTTLDeniesNoOther checks that acquires that share a request are not denied a lock
// because the first of them asks for a TTL that no mark records (V7, M3).
func TestV7LongTTLDeniesNoOther(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "A", 20*time.Second)), Won)
		c.masters[2].kill()
		time.Sleep(3 * time.Second)
		c.slow(5*time.Millisecond, 0, 1)
		read := start(c.q, Op{Kind: Read, Key: "k"})
		long := start(c.q, acquire("k", "long", 20*time.Hour))
		short := start(c.q, acquire("k", "short", 10*time.Second))
		<-read
		c.want(<-long, Undecided)
		c.want(<-short, Won)
	})
}

// TestV7LittleTimeDeniesNoOther checks that acquires and reads that share a request are not
// denied an answer because the first of them had waited so long that little time was left
// for the request (V7, P3). The call and its request end at one instant, and it is chance which is
// first.
func TestV7LittleTimeDeniesNoOther(t *testing.T) {
	ops := []Op{acquire("k", "A", 10*time.Second), {Kind: Read, Key: "k"}, takeUnlessHeld("A")}
	for _, op := range slices.Repeat(ops, 12) {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("warm", "A", 20*time.Second)), Won)
			time.Sleep(100 * time.Millisecond)
			for _, f := range c.masters {
				f.away(20 * time.Millisecond)
			}
			for i := range 12 {
				start(c.q, release("k", fmt.Sprint("none", i)))
			}
			first := start(c.q, op)
			time.Sleep(220 * time.Millisecond)
			second := start(c.q, op)
			c.want(<-first, Undecided)
			if o := <-second; o.Err != nil {
				t.Errorf("%v: %v", op.Kind, o.Err)
			}
		})
	}
}

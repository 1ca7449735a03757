package quorum

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/clock"
	"github.com/redlockd/redlockd/quorum/tail"
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
				if o := <-out; tt.name != "shorten" {
					c.want(o, Undecided)
				}
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

// V6: an extend that was won right before it has waited too long is not told NOQUORUM while a
// heal of it may act.
func TestV6WaitedWhileAHealMayAct(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		one, _ := c.two()
		c.want(do(one.Quorum, acquire("k", "A", 10*time.Second)), Won)
		time.Sleep(500 * time.Millisecond) // all masters vote, not a quorum alone
		c.masters[0].Del("k")
		const before, each = 5, 47 * time.Millisecond
		one.farther(each)
		for i := range before {
			start(one.Quorum, release("k", fmt.Sprint(i)))
		}
		out := start(one.Quorum, extend("k", "A", 20*time.Second))
		time.Sleep(before*each - time.Millisecond)
		one.farther(9 * time.Millisecond) // for the extend, and for the heal
		c.want(<-out, Won)
	})
}

// V6: what was told NOQUORUM while the marks were being written for its hold does nothing
// any more.
func TestV6ToldWhileTheMarksAreWritten(t *testing.T) {
	for range 6 { // the looks at the marks come as they come
		inBubble(t, 5, toldWhileTheMarksAreWritten)
	}
}

func toldWhileTheMarksAreWritten(c *testCluster) {
	c.want(do(c.q, acquire("k", "A", 10*time.Second)), Won)
	time.Sleep(3500 * time.Millisecond)
	all := []int{0, 1, 2, 3, 4}
	c.slow(16*time.Millisecond, all...) // 48 ms a batch
	for i := range 5 {
		start(c.q, release("k", fmt.Sprint(i)))
	}
	out := start(c.q, Op{Kind: Extend, Key: "k", Token: "A", NewToken: "N", Replace: true, TTL: 60 * time.Second})
	time.Sleep(235 * time.Millisecond)
	c.slow(time.Millisecond, all[1:]...)
	o := <-out
	c.slow(0, all...)
	time.Sleep(time.Second)
	if n := c.copies("k", "N"); o.Verdict == Undecided && n != 0 {
		c.t.Errorf("%d copies of what was told NOQUORUM", n)
	}
}

// M1: what waits while a look is under way goes out when that is answered, unless its time
// is over by then.
func TestM1TimeIsOverBehindALook(t *testing.T) {
	inBubble(t, 1, func(c *testCluster) {
		f := c.masters[0]
		looks := func() int {
			n := 0
			for _, cmd := range f.commands(0) {
				if strings.HasPrefix(cmd, "INFO") {
					n++
				}
			}
			return n
		}
		c.want(do(c.q, acquire("before", "A", time.Second)), Won) // the mark bears this hold
		for seen := looks(); looks() == seen; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(clock.LookEvery - 10*time.Millisecond)
		f.freeze() // the next look goes out, and is not answered
		time.Sleep(20 * time.Millisecond)
		skip := len(f.commands(0))
		c.want(do(c.q, acquire("k", "A", time.Second)), Undecided)
		f.thaw()
		time.Sleep(500 * time.Millisecond)
		after := f.commands(skip)
		if len(after) == 0 || !strings.HasPrefix(after[0], "INFO") {
			t.Fatalf("no look was under way: %q", after)
		}
		for _, cmd := range after {
			if strings.Contains(cmd, " k "+tail.Stem("A")) {
				t.Errorf("behind the look went what was told NOQUORUM: %.40q", cmd)
			}
		}
	})
}

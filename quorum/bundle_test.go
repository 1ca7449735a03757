package quorum

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// startBundled begins operations that go out in one batch, since a slow one is
// on its way.
func (c *cluster) startBundled(ops ...Op) []<-chan *Outcome {
	c.slow(time.Millisecond, 0, 1, 2)
	c.bundles++
	outs := []<-chan *Outcome{start(c.q, acquire(fmt.Sprint("before", c.bundles), "t", time.Minute))}
	synctest.Wait()
	for _, op := range ops {
		outs = append(outs, start(c.q, op))
	}
	return outs[1:]
}

// M2: what goes out as one script has the same outcomes as one by one.
func TestM2Bundle(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		c.want(do(c.q, acquire("mine", "t", time.Minute)), Won)
		c.want(do(c.q, acquire("other", "x", time.Minute)), Won)
		c.want(do(c.q, acquire("another", "x", time.Minute)), Won)
		for _, m := range c.masters {
			for _, key := range []string{"foreign", "strange"} {
				if _, err := m.SAdd(key, "an element"); err != nil {
					t.Fatal(err)
				}
			}
		}
		synctest.Wait()
		before := len(c.masters[0].commands(0))
		outs := c.startBundled(
			acquire("free", "t", time.Minute), acquire("other", "t", time.Minute), acquire("foreign", "t", time.Minute),
			release("mine", "t"), release("another", "t"), release("none", "t"), release("strange", "t"))
		for i, want := range []Verdict{Won, Held, Held, Won, Held, Absent, Held} {
			if o := <-outs[i]; o.Verdict != want {
				t.Errorf("operation %d: %v (%v), want %v", i, o.Verdict, o.Err, want)
			} else if i == 1 && o.State.Token != "x" {
				t.Errorf("held by %q, want x", o.State.Token)
			}
		}
		synctest.Wait()
		for key, copies := range map[string]int{"free": 3, "mine": 0} {
			if n := c.copies(key, "t"); n != copies {
				t.Errorf("%d copies of %s, want %d", n, key, copies)
			}
		}
		calls := 0
		for _, line := range c.masters[0].commands(before) {
			if strings.HasPrefix(line, "EVAL") {
				calls++
			}
		}
		if calls != 2 {
			t.Errorf("%d calls, want one and a bundle of seven", calls)
		}
	})
}

// A key that redlockd has no right to costs the others their bundle once, and
// nothing after that.
func TestM2BundleRefused(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		c.want(do(c.q, acquire("warm", "t", time.Minute)), Won) // the marks bear the hold
		for _, m := range c.masters {
			m.set(func() { m.secret = "secret" })
		}
		for turn := range 2 {
			ops := []Op{acquire("secret", "t", time.Minute)}
			for i := range 8 {
				ops = append(ops, acquire(fmt.Sprint(turn, i), "t", time.Minute))
			}
			for i, out := range c.startBundled(ops...) {
				o, want := <-out, Undecided
				if turn == 1 && i > 0 {
					want = Won
				}
				if o.Verdict != want {
					t.Errorf("turn %d, operation %d: %v (%v), want %v", turn, i, o.Verdict, o.Err, want)
				}
			}
		}
	})
}

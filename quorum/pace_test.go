package quorum

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// startMany begins acquires on keys of their own.
func (c *cluster) startMany(n int, name string) []<-chan *Outcome {
	outs := make([]<-chan *Outcome, n)
	for i := range outs {
		outs[i] = start(c.q, acquire(fmt.Sprint(name, i), "t", time.Minute))
	}
	return outs
}

// crowd has one batch of many answered by each master, 3 ms after it went out.
func (c *cluster) crowd(name string) {
	c.slow(time.Millisecond, 0, 1, 2)
	outs := c.startMany(1, name+"before")
	synctest.Wait()
	for _, out := range append(outs, c.startMany(40, name)...) {
		c.want(<-out, Won)
	}
	time.Sleep(20 * time.Millisecond) // also the third master
}

// M2: where many are at work and batches take longer than they could, the next
// one waits for half of them, and for a short time.
func TestM2BatchWaitsForTheCrowd(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		c.want(do(c.q, acquire("warm", "t", time.Minute)), Won)
		synctest.Wait()
		c.crowd("first")
		before := len(c.masters[0].commands(0))
		var outs []<-chan *Outcome
		for i, n := range []int{8, 7, 5} {
			outs = append(outs, c.startMany(n, fmt.Sprint("turn", i, "-"))...)
			time.Sleep(500 * time.Microsecond)
		}
		for _, out := range outs {
			c.want(<-out, Won)
		}
		bundles := 0
		for _, line := range c.masters[0].commands(before) {
			if strings.HasPrefix(line, "EVAL") && strings.Contains(line, "turn") {
				bundles++
			}
		}
		if bundles != 1 {
			t.Errorf("%d bundles, want one", bundles)
		}
		c.crowd("second")
		if o := do(c.q, acquire("alone", "t", time.Minute)); o.Verdict != Won || o.Took > maxPatience+3*time.Millisecond {
			t.Errorf("who comes alone after many: %v after %v", o.Verdict, o.Took)
		}
	})
}

// M2: nobody waits for others where a batch cannot take less.
func TestM2BatchWaitsForNobodyFarAway(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		c.want(do(c.q, acquire("warm", "t", time.Minute)), Won)
		synctest.Wait()
		time.Sleep(paceWindow)
		c.crowd("first")
		if o := do(c.q, acquire("alone", "t", time.Minute)); o.Verdict != Won || o.Took > 3*time.Millisecond {
			t.Errorf("%v after %v, want to have won after three milliseconds", o.Verdict, o.Took)
		}
	})
}

package quorum

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/outbox"
)

// startMany begins acquires on keys of their own.
func (c *testCluster) startMany(n int, name string) []<-chan *Outcome {
	outs := make([]<-chan *Outcome, n)
	for i := range outs {
		outs[i] = start(c.q, acquire(fmt.Sprint(name, i), "t", time.Minute))
	}
	return outs
}

// crowd has one batch of many answered by each master, 3 ms after it went out.
func (c *testCluster) crowd(name string) {
	c.slow(time.Millisecond, 0, 1, 2)
	outs := c.startMany(1, name+"before")
	synctest.Wait()
	for _, out := range append(outs, c.startMany(40, name)...) {
		c.want(<-out, Won)
	}
	synctest.Wait() // also the third master
}

// M2: where many are at work and batches take longer than they could, the next
// one waits for half of them, and for a short time.
func TestM2BatchWaitsForTheCrowd(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
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
		synctest.Wait()
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
		if o := do(c.q, acquire("alone", "t", time.Minute)); o.Verdict != Won || o.Took > outbox.MaxPatience+3*time.Millisecond {
			t.Errorf("who comes alone after many: %v after %v", o.Verdict, o.Took)
		}
	})
}

// M2: nobody waits for others where a batch cannot take less.
func TestM2BatchWaitsForNobodyFarAway(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", time.Minute)), Won)
		synctest.Wait()
		time.Sleep(outbox.PaceWindow)
		c.crowd("first")
		if o := do(c.q, acquire("alone", "t", time.Minute)); o.Verdict != Won || o.Took > 3*time.Millisecond {
			t.Errorf("%v after %v, want to have won after three milliseconds", o.Verdict, o.Took)
		}
	})
}

// M2: who comes when the many have gone waits for nobody.
func TestM2BatchWaitsForNobodyAfterTheCrowd(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", time.Minute)), Won)
		synctest.Wait()
		c.crowd("first")
		time.Sleep(outbox.CrowdGoneAfter)
		if o := do(c.q, acquire("alone", "t", time.Minute)); o.Verdict != Won || o.Took > 3*time.Millisecond {
			t.Errorf("%v after %v, want to have won after three milliseconds", o.Verdict, o.Took)
		}
	})
}

// V2: a short timeout is not spent with waiting for others.
func TestM2BatchWaitsLessThanTheTimeout(t *testing.T) {
	short := func(cfg *cluster.Config) { cfg.Timeout = time.Millisecond }
	inBubbleWith(t, 3, short, func(c *testCluster) {
		<-start(c.q, acquire("warm", "t", time.Minute))
		time.Sleep(time.Second) // the marks bear its hold
		for _, out := range c.startMany(40, "many") {
			c.want(<-out, Won)
		}
		synctest.Wait()
		if o := do(c.q, acquire("alone", "t", time.Minute)); o.Verdict != Won || o.Took > c.cfg.Timeout/2 {
			t.Errorf("%v after %v (%v), want to have won at once", o.Verdict, o.Took, o.Err)
		}
	})
}

// M2: what an earlier connection took tells nothing of the next one: not one
// that broke as soon as a batch went out, nor one to a master that was nearer.
func TestM2PaceOfAnotherConnection(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", time.Minute)), Won)
		synctest.Wait()
		for _, m := range c.masters {
			m.kill()
		}
		synctest.Wait()
		c.slow(time.Millisecond, 0, 1, 2)
		for _, m := range c.masters {
			m.mend()
		}
		c.ready()
		c.crowd("first")
		if o := do(c.q, acquire("alone", "t", time.Minute)); o.Verdict != Won || o.Took > 3*time.Millisecond {
			t.Errorf("%v after %v, want to have won after three milliseconds", o.Verdict, o.Took)
		}
	})
}

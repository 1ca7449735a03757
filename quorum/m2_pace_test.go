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

// startMany begins releases of keys that nobody has.
func (c *testCluster) startMany(n int, name string) []<-chan *Outcome {
	outs := make([]<-chan *Outcome, n)
	for i := range outs {
		outs[i] = start(c.q, release(fmt.Sprint(name, i), "t"))
	}
	return outs
}

// crowd has each master answer one batch of many releases, which are one script, 3 ms after it was
// sent.
func (c *testCluster) crowd(name string) {
	c.slow(time.Millisecond, 0, 1, 2)
	outs := c.startMany(1, name+"before")
	synctest.Wait()
	for _, out := range append(outs, c.startMany(40, name)...) {
		c.want(<-out, Absent)
	}
	synctest.Wait() // also the third master
}

// TestM2BatchWaitsForTheCrowd checks that where many clients are active and batches
// take longer than the shortest ones, the next batch waits for half of the clients, and
// only briefly (M2).
func TestM2BatchWaitsForTheCrowd(t *testing.T) {
	inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
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
			c.want(<-out, Absent)
		}
		synctest.Wait()
		bundles := 0
		for _, line := range c.masters[0].commands(before) {
			if strings.HasPrefix(line, "EVAL") && strings.Contains(line, " turn") {
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

// TestM2BatchWaitsForNobodyFarAway checks that no batch waits if none was ever faster
// (M2).
func TestM2BatchWaitsForNobodyFarAway(t *testing.T) {
	inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", time.Minute)), Won)
		synctest.Wait()
		time.Sleep(outbox.PaceWindow + 500*time.Millisecond) // between two looks
		c.crowd("first")
		if o := do(c.q, acquire("alone", "t", time.Minute)); o.Verdict != Won || o.Took > 3*time.Millisecond {
			t.Errorf("%v after %v, want to have won after three milliseconds", o.Verdict, o.Took)
		}
	})
}

// TestM2BatchWaitsForNobodyAfterTheCrowd checks that a client that comes after the
// crowd has gone does not wait for it (M2).
func TestM2BatchWaitsForNobodyAfterTheCrowd(t *testing.T) {
	inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", time.Minute)), Won)
		synctest.Wait()
		c.crowd("first")
		time.Sleep(outbox.CrowdGoneAfter)
		if o := do(c.q, acquire("alone", "t", time.Minute)); o.Verdict != Won || o.Took > 3*time.Millisecond {
			t.Errorf("%v after %v, want to have won after three milliseconds", o.Verdict, o.Took)
		}
	})
}

// TestM2BatchWaitsLessThanTheTimeout checks that a short timeout is not used up by
// waiting for a larger batch (V2).
func TestM2BatchWaitsLessThanTheTimeout(t *testing.T) {
	short := func(cfg *cluster.Config) { cfg.Timeout = time.Millisecond }
	inBubbleOf(t, 3, "7.2.4", short, func(c *testCluster) {
		<-start(c.q, acquire("warm", "t", time.Minute))
		time.Sleep(time.Second) // the marks bear the hold
		for _, out := range c.startMany(40, "many") {
			c.want(<-out, Absent)
		}
		synctest.Wait()
		if o := do(c.q, acquire("alone", "t", time.Minute)); o.Verdict != Won || o.Took > c.cfg.Timeout/2 {
			t.Errorf("%v after %v (%v), want to have won at once", o.Verdict, o.Took, o.Err)
		}
	})
}

// TestM2PaceOfAnotherConnection checks that the durations over an earlier connection do
// not count for the next one: neither those of one that broke as soon as a batch was
// sent, nor those of one to a nearer master (M2).
func TestM2PaceOfAnotherConnection(t *testing.T) {
	inBubbleOf(t, 3, "7.2.4", func(*cluster.Config) {}, func(c *testCluster) {
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

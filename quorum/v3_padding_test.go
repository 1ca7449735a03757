package quorum

import (
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// TestV3PaddingOfBefore checks that after a redlockd with a longer timeout has joined,
// so that the marks bear a greater padding, and was restarted, no instance that starts
// takes more off an earlier lock than its own padding, and its holder reads it to the
// end; also if all are restarted (V3, P4).
func TestV3PaddingOfBefore(t *testing.T) {
	for _, restarts := range []int{0, 1, 2} {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
			took := time.Now()
			brief := c.cfg
			c.cfg.Timeout = 300 * time.Millisecond
			others := []*Quorum{c.redlockd()}
			for range restarts {
				time.Sleep(2 * time.Second)
				c.stop(others[0])
				others = []*Quorum{c.redlockd()}
			}
			c.cfg = brief
			others = append(others, c.redlockd(), c.q)
			time.Sleep(2 * time.Second)
			for time.Since(took) < 9990*time.Millisecond {
				for i, q := range others {
					o := do(q, Op{Kind: Read, Key: "k"})
					if o.Verdict == Absent || o.Verdict != Held && time.Since(took) > 9*time.Second {
						t.Errorf("%d restarts: redlockd %d answers %v after %v of 10s", restarts, i, o.Verdict, time.Since(took))
					}
				}
				time.Sleep(60 * time.Millisecond)
			}
			for _, q := range others[1:] {
				c.stop(q)
			}
			c.q = others[0]
		})
	}
}

// TestV3LeastPaddingIsRaised checks that the marks bear the greater least padding once
// all earlier locks are over, and not before, and that no read answers more than was
// asked for then (V3).
func TestV3LeastPaddingIsRaised(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 4*time.Second)), Won)
		time.Sleep(time.Second)
		greatest := c.masters[0].markOf(t).Greatest
		if least := c.masters[0].markOf(t).Least; least != c.cfg.Settings().Padding() {
			t.Fatalf("the marks bear %v, want %v", least, c.cfg.Settings().Padding())
		}
		before := c.cfg.Settings().Padding()
		c.cfg.Timeout = 300 * time.Millisecond
		other := c.redlockd()
		began := time.Now()
		for c.masters[0].markOf(t).Least == before {
			if time.Since(began) > 5*greatest {
				t.Fatal("it is not raised")
			}
			time.Sleep(100 * time.Millisecond)
		}
		if after := time.Since(began); after < greatest {
			t.Errorf("raised after %v, and locks of %v may live", after, greatest)
		}
		time.Sleep(2 * time.Second)
		for i, f := range c.masters {
			if m := f.markOf(t); m.Least != c.cfg.Settings().Padding() || m.Padding() != c.cfg.Settings().Padding() {
				t.Errorf("master %d bears %v of %v, want %v", i, m.Least, m.Padding(), c.cfg.Settings().Padding())
			}
		}
		for i := range 20 {
			time.Sleep(70 * time.Millisecond)
			key := fmt.Sprint("k", i)
			c.want(do(other, acquire(key, "t", 3*time.Second)), Won)
			took := time.Now()
			time.Sleep(2 * time.Second)
			spent := time.Since(took) // not known more exactly than by the drift
			if o := do(c.q, Op{Kind: Read, Key: key}); o.State.TTL > 3*time.Second-spent+c.cfg.Drift(spent) {
				t.Errorf("%v are left of 3s after %v", o.State.TTL, time.Since(took))
			}
		}
	})
}

// endsInTime fails if A's lock on k, asked for at sent with a TTL of a minute, is told to be
// over before that.
func (c *testCluster) endsInTime(q *Quorum, sent time.Time) {
	c.t.Helper()
	time.Sleep(time.Until(sent.Add(59 * time.Second)))
	for time.Since(sent) < 59990*time.Millisecond {
		if o := do(q, Op{Kind: Read, Key: "k"}); o.Verdict == Absent {
			c.t.Fatalf("A's lock is told to be over after %v", time.Since(sent))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// longPadding is a cluster of redlockd with a long timeout; what starts later has a short one.
func longPadding(cfg *cluster.Config) { cfg.MaxTTL, cfg.Timeout = time.Minute, time.Second }

// TestV3LeastPaddingOfMarksThatWereLost checks that what a redlockd with a longer timeout
// remembers of the least padding does not count: it was cut off while all masters were lost
// and begun anew by one with a shorter timeout (V3, P4, why 19).
func TestV3LeastPaddingOfMarksThatWereLost(t *testing.T) {
	inBubbleWith(t, 3, longPadding, func(c *testCluster) {
		c.stop(c.q)
		away, ways := c.redlockdOver(c.cfg.Masters)
		c.serves(away, 3)
		time.Sleep(time.Minute) // it has seen the greatest padding for long enough itself
		for _, w := range ways {
			w.leads(noRoute)
		}
		for _, f := range c.masters {
			f.kill()
			f.startEmpty()
		}
		c.cfg.Timeout = 50 * time.Millisecond
		short := c.redlockd()
		c.serves(short, 3)
		sent := time.Now()
		c.want(do(short, acquire("k", "A", time.Minute)), Won)
		for i, name := range []string{"a", "b", "c"} {
			ways[name].leads(c.masters[i].dial)
		}
		c.endsInTime(away, sent)
	})
}

// TestV3LeastPaddingOfOneMark checks that the least padding of one mark does not count either
// where the others began anew with less (V3, P4, why 19).
func TestV3LeastPaddingOfOneMark(t *testing.T) {
	inBubbleWith(t, 5, longPadding, func(c *testCluster) {
		c.stop(c.q)
		for _, f := range c.masters[:4] {
			f.kill()
			f.startEmpty()
		}
		c.cfg.Timeout = 50 * time.Millisecond
		short := c.redlockdOf(without(c.cfg.Masters, "e"))
		for short.Status().Voting < 4 {
			time.Sleep(time.Second)
		}
		sent := time.Now()
		c.want(do(short, acquire("k", "A", time.Minute)), Won)
		fresh := c.redlockd()
		c.endsInTime(fresh, sent)
	})
}

// joinsAndRestarts starts a redlockd with a longer timeout, and one more in its place: the
// second one has seen no mark with the padding of before.
func (c *testCluster) joinsAndRestarts(meanwhile func()) *Quorum {
	c.t.Helper()
	c.cfg.Timeout = time.Second
	first := c.redlockd()
	time.Sleep(3 * time.Second)
	meanwhile()
	c.stop(first)
	return c.redlockd()
}

// toldToTheEnd fails if A's lock on k, asked for at sent with this TTL, is told to be over
// before that.
func (c *testCluster) toldToTheEnd(q *Quorum, sent time.Time, ttl time.Duration) {
	c.t.Helper()
	for time.Since(sent) < ttl-10*time.Millisecond {
		if o := do(q, Op{Kind: Read, Key: "k"}); o.Verdict == Absent {
			c.t.Fatalf("A's lock is told to be over after %v of %v", time.Since(sent), ttl)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestV3LeastPaddingHiddenByANewMark checks that a mark which records no least padding does
// not hide what the others record (V3, P4, why 19): a restarted empty after a redlockd with a
// longer timeout had joined.
func TestV3LeastPaddingHiddenByANewMark(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.MaxTTL = time.Minute }, func(c *testCluster) {
		c.want(do(c.q, acquire("before", "A", time.Minute)), Won)
		sent := time.Now()
		c.want(do(c.q, acquire("k", "A", time.Minute)), Won)
		later := c.joinsAndRestarts(func() {
			c.masters[0].kill()
			c.masters[0].startEmpty()
			time.Sleep(2 * time.Second)
		})
		c.toldToTheEnd(later, sent, time.Minute)
	})
}

// TestV3LeastPaddingOfANewCluster checks that the padding of before is not forgotten if a
// redlockd with a longer timeout joins while no mark records a least padding yet (V3, P4,
// why 19).
func TestV3LeastPaddingOfANewCluster(t *testing.T) {
	inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.MaxTTL = time.Minute }, func(c *testCluster) {
		c.want(do(c.q, acquire("before", "A", time.Minute)), Won)
		for _, f := range c.masters {
			f.kill()
			f.startEmpty()
		}
		time.Sleep(time.Minute)
		c.stop(c.q)
		c.q = c.redlockd() // it has not seen the marks for as long as a lock may last
		c.serves(c.q, 3)
		sent := time.Now()
		c.want(do(c.q, acquire("k", "A", time.Minute)), Won)
		later := c.joinsAndRestarts(func() {})
		c.toldToTheEnd(later, sent, time.Minute)
	})
}

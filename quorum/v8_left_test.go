package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestP5HeldWithAnAnswerThatWasLost checks that an acquire that was answered Held is
// rolled back also on a master whose answer was lost before the verdict (P5, V4).
func TestP5HeldWithAnAnswerThatWasLost(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		time.Sleep(500 * time.Millisecond) // no look comes in between
		f := c.masters[4]
		f.Del("k")
		c.slow(5*time.Millisecond, 0, 1, 2, 3)
		c.slow(2*time.Millisecond, 4)
		out := start(c.q, acquire("k", "u", 60*time.Second))
		time.Sleep(3 * time.Millisecond)
		if f.holds("k") != "u" {
			t.Fatal("the master that is to be cut off has not created it yet")
		}
		f.cut()
		c.want(<-out, Held)
		c.slow(0, 0, 1, 2, 3, 4)
		time.Sleep(3 * time.Second)
		if n := c.copies("k", "u"); n != 0 {
			t.Errorf("%d copies are left of what was refused", n)
		}
	})
}

// TestV8RepeatedReleaseGoesFirst checks that a release that is to be repeated to a
// master is carried out there before the same token takes the lock again (V8).
func TestV8RepeatedReleaseGoesFirst(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 10*time.Second)), Won)
		c.want(do(c.q, acquire("warm", "t", 60*time.Second)), Won)
		time.Sleep(500 * time.Millisecond) // no look comes in between
		f := c.masters[0]
		f.refuse("BUSY Redis is busy running a script.")
		c.want(do(c.q, release("k", "t")), Won)
		synctest.Wait()
		f.refuse("")
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		synctest.Wait()
		if left := f.TTL("k"); left < 30*time.Second {
			t.Errorf("the lock lives for %v where its release was to be repeated", left)
		}
	})
}

// TestV7EveryTokenThatOutstaysIsReleased checks that of the releases that waited too
// long, one replaces only others with the same token (V7).
func TestV7EveryTokenThatOutstaysIsReleased(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		c.slow(4*time.Millisecond, 0, 1, 2)
		var outs []<-chan *Outcome
		for i := range 60 {
			token := fmt.Sprint("another", i)
			if i == 50 {
				token = "t"
			}
			outs = append(outs, start(c.q, release("k", token)))
		}
		for i, out := range outs {
			if o := <-out; i == 50 {
				c.want(o, Undecided)
			}
		}
		time.Sleep(5 * time.Second)
		if n := c.copies("k", "t"); n != 0 {
			t.Errorf("the release was not carried out: %d copies", n)
		}
	})
}

// TestV8RepeatedReleaseSparesWhatIsProlonged checks that a release which a master has missed
// deletes no copy there that was counted since: the lock was taken again on the other
// masters, and then prolonged on this one (V8).
func TestV8RepeatedReleaseSparesWhatIsProlonged(t *testing.T) {
	const ttl = 20 * time.Second
	for name, op := range map[string]Op{
		"extend": {Kind: Extend, Key: "k", Token: "t", TTL: ttl},
		"expire": {Kind: Expire, Key: "k", TTL: ttl},
		"transaction": {Kind: DecideAll, Keys: []string{"k"}, DecideAll: func([]State) []Change {
			return []Change{{Key: "k", Token: "u", TTL: ttl}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				other := c.redlockd()
				time.Sleep(3 * time.Second)
				busy := func(f *fakeMaster, do func()) {
					f.refuse("BUSY a script is running")
					do()
					synctest.Wait()
					f.refuse("")
				}
				c.tell(do(c.q, acquire("k", "t", ttl)))
				busy(c.masters[2], func() {
					c.want(do(c.q, release("k", "t")), Won)
					c.tell(do(c.q, acquire("k", "t", time.Second)))
				})
				var o *Outcome
				busy(c.masters[0], func() {
					if o = do(c.q, op); o.Verdict == Won {
						c.tell(o)
					}
				})
				time.Sleep(5 * time.Second)
				if next := do(other, acquire("k", "B", ttl)); o.Verdict == Won && next.Verdict == Won {
					t.Error("there is another holder")
				}
			})
		})
	}
}

// TestV8ExecFreesWhatAnotherHasFreed checks what docs/safety.md tells of EXEC: what was freed
// through another instance is freed once more by a copy that this has missed, but nobody is given
// another token or more time by it (V8, S4).
func TestV8ExecFreesWhatAnotherHasFreed(t *testing.T) {
	for _, exec := range []struct {
		op   Op
		want Verdict
	}{
		{release("k", "t"), Won},
		{extend("k", "t", time.Minute), Undecided},
		{Op{Kind: Extend, Key: "k", Token: "t", Replace: true, NewToken: "u", TTL: time.Minute}, Undecided},
	} {
		inBubble(t, 3, func(c *testCluster) {
			other, way := c.redlockdThrough(2)
			c.tell(do(other, acquire("k", "t", time.Minute)))
			time.Sleep(100 * time.Millisecond)
			var w Watch
			defer w.Close()
			c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &w}), Held)
			way.cut(true)
			synctest.Wait()
			c.want(do(other, release("k", "t")), Won)
			c.masters[0].freeze()
			exec.op.Unless = []*Watch{&w}
			c.want(do(c.q, exec.op), exec.want)
		})
	}
}

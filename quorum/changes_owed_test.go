package quorum

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestV8OwedChangeAndADel checks that what R2 has yet to repeat, of a change of token and of a DEL
// after it, deletes no copy that R1 has made, or counted, since (V8).
func TestV8OwedChangeAndADel(t *testing.T) {
	for _, away := range []time.Duration{0, 3 * time.Second} {
		inBubble(t, 3, func(c *testCluster) {
			other, way := c.redlockdThrough(2)
			c.tell(do(other, acquire("k", "t", time.Minute)))
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
			way.cut(true)
			synctest.Wait()
			time.Sleep(away)
			o := c.want(do(other, replaceBy("k", "t", "u", time.Minute)[0]), Won)
			c.tell(o)
			c.want(do(other, Op{Kind: Remove, Key: "k"}), Won) // B's DEL
			time.Sleep(time.Second)
			c.tell(do(c.q, acquire("k", "t", 5*time.Second))) // A does not know, and takes it again
			synctest.Wait()
			time.Sleep(time.Second)
			a := c.masters[0]
			a.freeze()
			time.Sleep(60 * time.Millisecond)
			told := time.Now()
			c.tell(do(c.q, extend("k", "t", 20*time.Second)))
			time.Sleep(300 * time.Millisecond)
			a.thaw()
			way.cut(false)
			time.Sleep(6 * time.Second)
			if o := do(c.q, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Errorf("away for %v: B has the lock %v before A's TTL is over", away, 20*time.Second-time.Since(told))
			}
		})
	}
}

// TestV8ChangeThatFailsAndOneThatIsRefused checks that of two changes of a token the second one
// reaches a master that refuses it, because the first one is yet to be repeated there (V8).
func TestV8ChangeThatFailsAndOneThatIsRefused(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		f := c.masters[2]
		f.refuse("BUSY a script is running")
		c.tell(do(c.q, replaceBy("k", "A", "B", 20*time.Second)[0]))
		time.Sleep(100 * time.Millisecond)
		f.refuse("")
		c.tell(do(c.q, replaceBy("k", "B", "C", 20*time.Second)[0]))
		time.Sleep(3 * time.Second)
		if got := f.holds("k"); got != "C" {
			t.Errorf("the master that was busy holds %q, want C", got)
		}
		c.masters[0].freeze()
		time.Sleep(100 * time.Millisecond)
		if o := do(c.q, extend("k", "C", 20*time.Second)); o.Verdict != Won {
			t.Errorf("extend is %v: %v", o.Verdict, o.Err)
		}
	})
}

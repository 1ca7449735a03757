package quorum

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// takeAndTell is SET NX GET: an acquire that keeps what its own token has.
func takeAndTell(token string) Op {
	op := acquire("k", token, 10*time.Second)
	op.Decide = func(s State) Op {
		switch {
		case !s.Found:
			return acquire("k", token, 10*time.Second)
		case s.Token != token:
			return Op{Kind: Read}
		}
		return keep("k", s)
	}
	return op
}

// TestV7PollersThatAreTold checks that pollers of a lock that are told its token share their
// requests as others do, and that those which have it all are told so after it was kept (V7,
// V6, why 38).
func TestV7PollersThatAreTold(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", time.Minute)))
		c.slow(5*time.Millisecond, 0, 1, 2)
		var outs []<-chan *Outcome
		for i := range 200 {
			token := fmt.Sprint("A", i)
			if i == 100 || i == 101 {
				token = "t"
			}
			outs = append(outs, start(c.q, takeAndTell(token)))
		}
		for i, out := range outs {
			switch o := <-out; {
			case i == 100 || i == 101:
				if c.want(o, Won); o.Done != Extend {
					t.Errorf("%d: it was kept by a %v", i, o.Done)
				}
			case o.Verdict != Held || o.State.Token != "t":
				t.Errorf("%d: %v of %q, %v", i, o.Verdict, o.State.Token, o.Err)
			}
		}
	})
}

// TestV7WonBesideItsOwnToken checks that an acquire that shares its request with another one
// of the same token, which wins, is told so only after the lock was kept (V7, V6).
func TestV7WonBesideItsOwnToken(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.slow(5*time.Millisecond, 0, 1, 2)
		busy := start(c.q, Op{Kind: Read, Key: "k"})
		first, second, third := start(c.q, takeAndTell("t")), start(c.q, takeAndTell("t")), start(c.q, takeAndTell("u"))
		c.want(<-busy, Absent)
		if o := c.want(<-first, Won); o.Done != Acquire {
			t.Errorf("the first was a %v", o.Done)
		} else {
			o.Undo() // its client has gone
		}
		if o := c.want(<-second, Won); o.Done != Extend && o.Done != Acquire {
			t.Errorf("the second was a %v", o.Done)
		}
		c.want(<-third, Held)
	})
}

// TestV14ToldOfNoString checks that an acquire that is to tell what is there does not take a
// key that is no string for a lock with an empty token (V14, why 63).
func TestV14ToldOfNoString(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, f := range c.masters {
			f.SetForeign("k")
		}
		began := time.Now()
		o := c.want(do(c.q, takeAndTell("t")), Undecided)
		if !strings.HasPrefix(o.Err.Error(), "WRONGTYPE") {
			t.Errorf("the error is %v", o.Err)
		}
		if took := time.Since(began); took > c.cfg.Timeout {
			t.Errorf("it took %v", took)
		}
	})
}

// TestV10ATokenIsToldByAQuorum checks that an acquire that is refused by one copy of a lock that
// was released, and by one of its successor, tells neither token, as a read does not (V10, why
// 55).
func TestV10ATokenIsToldByAQuorum(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "A", time.Minute)))
		time.Sleep(time.Second)
		c.masters[0].kill()
		time.Sleep(3 * time.Second)
		c.want(do(c.q, release("k", "A")), Won)
		c.tell(do(c.q, acquire("k", "B", time.Minute)))
		c.stop(c.q)
		c.masters[0].mend()
		c.masters[2].kill()
		c.q = c.redlockd()
		c.ready()
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Undecided)
		c.want(do(c.q, takeAndTell("x")), Undecided)
		if o := c.want(do(c.q, acquire("k", "x", time.Second)), Held); o.State.Found {
			t.Errorf("it is told of %q", o.State.Token)
		}
	})
}

package quorum

import (
	"strings"
	"testing"
	"time"
)

// leftAlone leaves a token on one of two masters, while the third one is down.
func (c *testCluster) leftAlone() {
	c.masters[0].kill()
	time.Sleep(3 * time.Second)
	c.overwrite("k", "X", 1)
}

// TestV5DecideReadsAgain checks that an operation that reads first does not give up because
// another client's lost attempt has left a copy for a moment, while a master is down (V5, why
// 24).
func TestV5DecideReadsAgain(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.leftAlone()
		time.AfterFunc(10*time.Millisecond, func() { c.masters[1].Del("k") })
		o := c.want(do(c.q, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			if s.Found {
				return Op{Kind: Read}
			}
			return acquire("k", "A", 10*time.Second)
		}}), Won)
		if o.Done != Acquire {
			t.Errorf("it was a %v", o.Done)
		}
	})
}

// TestV5SeveralReadAgain is the same for an operation on several keys.
func TestV5SeveralReadAgain(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.leftAlone()
		time.AfterFunc(10*time.Millisecond, func() { c.masters[1].Del("k") })
		c.want(do(c.q, Op{Kind: DecideAll, Keys: []string{"j", "k"}, DecideAll: func(states []State) []Change {
			return []Change{{Key: "k", Token: "A", TTL: 10 * time.Second}}
		}}), Won)
		if got := c.masters[1].holds("k"); got != "A" {
			t.Errorf("the lock is %q", got)
		}
	})
}

// TestV5DecideGivesUp checks that it does not read for ever, and not again where too few
// masters have answered (V5).
func TestV5DecideGivesUp(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		decide := Op{Kind: Decide, Key: "k", Decide: func(State) Op { return Op{Kind: Read} }}
		c.leftAlone()
		if o := c.want(do(c.q, decide), Undecided); o.Took > c.cfg.RetryBudget+c.cfg.Timeout {
			t.Errorf("it took %v", o.Took)
		}
		c.masters[1].kill()
		time.Sleep(3 * time.Second)
		if o := c.want(do(c.q, decide), Undecided); o.Took > c.cfg.Timeout {
			t.Errorf("it took %v", o.Took)
		}
	})
}

// TestV10DifferentTokensAreNoAbsence checks that nobody is told, or acts as if, that there is
// no lock where each master has another token: some client stores one over another at this
// moment (V10, why 56).
func TestV10DifferentTokensAreNoAbsence(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		differ := func() {
			for i, token := range []string{"A", "A B", "A C"} {
				c.overwrite("k", token, i)
			}
		}
		differ()
		decide := Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			if !s.Found {
				t.Error("it is taken for absent")
			}
			return Op{Kind: Read}
		}}
		c.want(do(c.q, decide), Undecided)
		if o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Undecided); !strings.HasSuffix(o.Err.Error(), "3 refused; split: no token has a majority") {
			t.Error(o.Err)
		}
		for _, op := range []Op{decide, {Kind: Read, Key: "k"}} {
			differ()
			time.AfterFunc(10*time.Millisecond, func() { c.overwrite("k", "A B C", 0, 1, 2) })
			if o := c.want(do(c.q, op), Held); o.State.Token != "A B C" {
				t.Errorf("%v finds %q", op.Kind, o.State.Token)
			}
		}
	})
}

package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/scripts"
)

// moveTo is a transaction on k and l: it does with k what change says, and takes l. Once it
// has read both for the first time, read is called.
func moveTo(change Change, read func()) Op {
	first := true
	return Op{Kind: DecideAll, Keys: []string{"k", "l"}, DecideAll: func(s []State) []Change {
		if first {
			first = false
			read()
		}
		if !s[0].Found || s[0].Token != "t" || s[1].Found {
			return nil // the reply is 0
		}
		return []Change{change, {Key: "l", Token: "u", TTL: 10 * time.Second}}
	}}
}

// takenOnTwo gives a key to C on two masters.
func (c *testCluster) takenOnTwo(key string) func() {
	return func() { c.overwrite(key, "C", 1, 2) }
}

// changes are what the transaction may do with k.
var changes = map[string]Change{
	"deleted":       {Key: "k", Delete: true},
	"another token": {Key: "k", Token: "u", TTL: 40 * time.Second},
}

// heldOnTwo gives k to A on two masters.
func (c *testCluster) heldOnTwo() {
	c.masters[2].kill()
	time.Sleep(time.Second)
	c.tell(do(c.q, acquire("k", "t", 60*time.Second)))
	c.masters[2].mend()
	time.Sleep(10 * time.Second)
	synctest.Wait()
	if n := c.copies("k", "t"); n != 2 {
		c.t.Fatalf("%d copies", n)
	}
}

// TestV8RefusedChangeOfToken checks that a transaction which is refused on a majority has
// changed the token of A's lock nowhere (V8).
func TestV8RefusedChangeOfToken(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.heldOnTwo()
		c.want(do(c.q, moveTo(changes["another token"], c.takenOnTwo("l"))), Won) // the reply is 0
		time.Sleep(3 * time.Second)
		if n := c.copies("k", "t"); n != 2 {
			t.Errorf("%d copies have the old token", n)
		}
		c.want(do(c.q, extend("k", "t", 20*time.Second)), Won)
	})
}

// TestV8RefusedRelease checks the same for a transaction that frees A's lock: B must not get
// it while A was told that nothing was done (V8).
func TestV8RefusedRelease(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.heldOnTwo()
		c.want(do(c.q, moveTo(changes["deleted"], c.takenOnTwo("l"))), Won) // the reply is 0
		c.want(do(c.q, acquire("k", "B", 20*time.Second)), Held)
	})
}

// betweenTheTwo calls then when the first attempt of moveTo has created l on all masters.
func (c *testCluster) betweenTheTwo(then func()) {
	go func() {
		for c.copies("l", "u") < 3 {
			time.Sleep(10 * time.Microsecond)
		}
		then()
	}()
}

// TestV1SecondAttemptIsLost checks that l is rolled back if the second attempt is not heard,
// and that the reply is no "nothing was done" (V8, P4).
func TestV1SecondAttemptIsLost(t *testing.T) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.tell(do(c.q, acquire("k", "t", time.Minute)))
				time.Sleep(5 * time.Second)
				c.slow(time.Millisecond, 0, 1, 2)
				c.betweenTheTwo(func() { c.masters[1].freeze(); c.masters[2].freeze() })
				c.want(do(c.q, moveTo(change, func() {})), Undecided)
				c.masters[1].thaw()
				c.masters[2].thaw()
				time.Sleep(5 * time.Second)
				if n := c.copies("l", "u"); n != 0 {
					t.Errorf("%d copies of l are left", n)
				}
			})
		})
	}
}

// TestV1SecondAttemptIsRefused checks that l is rolled back if k was changed on a majority
// between the two attempts, and that the reply is no "nothing was done": one master may have
// carried out the second one, and others may have seen l (V8, P4, why 12).
func TestV1SecondAttemptIsRefused(t *testing.T) {
	for name, change := range changes {
		for _, taken := range [][]int{{1, 2}, {0, 1, 2}} {
			t.Run(fmt.Sprintf("%s, taken on %v", name, taken), func(t *testing.T) {
				inBubble(t, 3, func(c *testCluster) {
					c.tell(do(c.q, acquire("k", "t", time.Minute)))
					time.Sleep(5 * time.Second)
					c.slow(time.Millisecond, 0, 1, 2)
					c.betweenTheTwo(func() { c.overwrite("k", "C", taken...) })
					c.want(do(c.q, moveTo(change, func() {})), Undecided)
					time.Sleep(time.Second)
					if n := c.copies("l", "u"); n != 0 {
						t.Errorf("%d copies of l are left", n)
					}
				})
			})
		}
	}
}

// TestV1SecondAttemptAlone checks that a client is told that nothing was done where the first of two
// attempts has only looked at the keys, and the second one finds its key changed (P4).
func TestV1SecondAttemptAlone(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, key := range []string{"j", "k"} {
			c.tell(do(c.q, acquire(key, "t", time.Minute)))
		}
		time.Sleep(time.Second)
		c.slow(time.Millisecond, 0, 1, 2)
		tries, before := 0, len(c.masters[0].commands(0))
		c.want(do(c.q, Op{Kind: DecideAll, Keys: []string{"j", "k"}, DecideAll: func(s []State) []Change {
			if s[1].Token != "t" {
				return nil // the reply is 0
			}
			tries++
			go func() {
				for c.masters[0].calls(before, scripts.Change) == 0 || c.masters[1].calls(before, scripts.Change) == 0 {
					time.Sleep(10 * time.Microsecond)
				}
				c.overwrite("k", "C", 0, 1, 2)
			}()
			return []Change{{Key: "k", Delete: true}}
		}}), Won)
		if n := c.copies("k", "C"); n != 3 || tries != 1 || c.masters[0].calls(before, scripts.Change) != 2 {
			t.Errorf("C has %d copies after %d tries, and %d attempts", n, tries, c.masters[0].calls(before, scripts.Change))
		}
	})
}

// TestP5GoneBetweenTheTwoAttempts checks that nothing is left of l if the client goes between
// the two attempts, and that k is not left on a minority (P5, V8).
func TestP5GoneBetweenTheTwoAttempts(t *testing.T) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.tell(do(c.q, acquire("k", "t", time.Minute)))
				time.Sleep(5 * time.Second)
				c.slow(time.Millisecond, 0, 1, 2)
				client, out, op := &leaver{}, make(chan *Outcome, 1), moveTo(change, func() {})
				c.betweenTheTwo(func() { client.gone.Store(true) })
				c.q.Do(&op, client, func(o *Outcome) { out <- o })
				c.want(<-out, Won).Undo() // as the session does
				time.Sleep(time.Second)
				if l, k := c.copies("l", "u"), c.copies("k", "t"); l != 0 || k != 0 {
					t.Errorf("%d copies of l and %d of k are left", l, k)
				}
			})
		})
	}
}

// TestV2RenewedAfterTwoAttempts checks that the time of a reply counts from the first of two
// attempts, that the renewal reaches the locks of both, and that what the first one has created
// is rolled back though it was renewed (V2, V6).
func TestV2RenewedAfterTwoAttempts(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "t", time.Minute)))
		time.Sleep(5 * time.Second)
		c.slow(time.Millisecond, 0, 1, 2)
		o := c.want(do(c.q, moveTo(changes["another token"], func() {})), Won)
		time.Sleep(o.grant.attempt.times.began + c.cfg.Timeout + 1 - o.Clock())
		if !o.Late(o.Clock()) {
			t.Error("the time counts from the second attempt")
		}
		left := func() [2]time.Duration { return [2]time.Duration{c.masters[0].TTL("k"), c.masters[0].TTL("l")} }
		before := left()
		renew(o)
		if after := left(); after[0] <= before[0] || after[1] <= before[1] {
			t.Errorf("%v are left of k and l, and were before: %v", after, before)
		}
		if _, err := o.Confirm(o.Clock()); err != nil {
			t.Error(err)
		}
		o.Undo()
		time.Sleep(time.Second)
		if l, k := c.copies("l", "u"), c.copies("k", "u"); l != 0 || k != 3 {
			t.Errorf("%d copies of l and %d of k are left", l, k)
		}
	})
}

// TestV8RefusedByAKeyThatStays checks the same where the key that refuses is only looked at,
// for example under WATCH (V8).
func TestV8RefusedByAKeyThatStays(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.heldOnTwo()
		first := true
		c.want(do(c.q, Op{Kind: DecideAll, Keys: []string{"k", "l"}, DecideAll: func(s []State) []Change {
			if first {
				first = false
				c.takenOnTwo("l")()
			}
			if !s[0].Found || s[1].Found {
				return nil // the reply is the null array
			}
			return []Change{{Key: "k", Delete: true}}
		}}), Won)
		c.want(do(c.q, acquire("k", "B", 20*time.Second)), Held)
	})
}

// TestV1RoundTrips checks that after the read a transaction takes one round trip, or two if it
// changes a lock and depends on another key (V1).
func TestV1RoundTrips(t *testing.T) {
	for _, tt := range []struct {
		name    string
		keys    []string
		changes []Change
		scripts int
	}{
		{"takes", []string{"k", "l", "m"}, []Change{{Key: "l", Token: "t", TTL: time.Minute}, {Key: "m", Token: "t", TTL: time.Minute}}, 1},
		{"extends and takes", []string{"j", "k", "l"}, []Change{{Key: "j", Token: "t", TTL: 70 * time.Second}, {Key: "l", Token: "t", TTL: time.Minute}}, 1},
		{"frees", []string{"j", "k"}, []Change{{Key: "j", Delete: true}, {Key: "k", Delete: true}}, 1},
		{"frees one", []string{"j", "k"}, []Change{{Key: "k", Delete: true}}, 2},
		{"moves", []string{"k", "l"}, []Change{{Key: "k", Delete: true}, {Key: "l", Token: "t", TTL: time.Minute}}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.tell(do(c.q, takeAll("t", time.Minute, "j", "k")))
				synctest.Wait()
				before := len(c.masters[0].commands(0))
				c.want(do(c.q, Op{Kind: DecideAll, Keys: tt.keys, DecideAll: func([]State) []Change { return tt.changes }}), Won)
				synctest.Wait()
				if n := c.masters[0].calls(before, scripts.Change); n != tt.scripts {
					t.Errorf("it took %d scripts, want %d", n, tt.scripts)
				}
			})
		})
	}
}

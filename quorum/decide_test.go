package quorum

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// takeAll acquires several keys, all or none.
func takeAll(token string, ttl time.Duration, keys ...string) Op {
	return Op{Kind: DecideAll, Keys: keys, DecideAll: func(states []State) []Change {
		var out []Change
		for i, s := range states {
			if s.Found {
				return nil
			}
			out = append(out, Change{Key: keys[i], Token: token, TTL: ttl})
		}
		return out
	}}
}

// giveAll releases the keys that hold the token.
func giveAll(token string, keys ...string) Op {
	return Op{Kind: DecideAll, Keys: keys, DecideAll: func(states []State) []Change {
		var out []Change
		for i, s := range states {
			if s.Found && s.Token == token {
				out = append(out, Change{Key: keys[i], Delete: true})
			}
		}
		return out
	}}
}

func TestDecideAllIsAllOrNothing(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		if o := c.want(do(c.q, takeAll("t", 10*time.Second, "a", "b", "c")), Won); o.Done != DecideAll {
			t.Errorf("done is %v", o.Done)
		}
		synctest.Wait()
		for _, key := range []string{"a", "b", "c"} {
			if n := c.copies(key, "t"); n != 5 {
				t.Errorf("%d copies of %s", n, key)
			}
		}
		if o := c.want(do(c.q, takeAll("u", 10*time.Second, "x", "c")), Won); o.Done != Read {
			t.Errorf("took what was held: %v", o.Done)
		}
		c.want(do(c.q, acquire("x", "v", time.Second)), Won)
		c.want(do(c.q, giveAll("t", "c", "a", "b")), Won)
		synctest.Wait()
		for _, key := range []string{"a", "b", "c"} {
			if n := c.copies(key, "t"); n != 0 {
				t.Errorf("%d copies of %s are left", n, key)
			}
		}
	})
}

// TestDecideAllRollsBack checks that the keys that a lost DecideAll has created are
// rolled back, every one.
func TestDecideAllRollsBack(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
		c.slow(20*time.Millisecond, 0, 1, 2)
		o := do(c.q, takeAll("t", 10*time.Second, "a", "b"))
		c.want(o, Undecided)
		c.slow(0, 0, 1, 2)
		time.Sleep(2 * time.Second)
		for _, key := range []string{"a", "b"} {
			if n := c.copies(key, "t"); n != 0 {
				t.Errorf("%d copies of %s are left", n, key)
			}
		}
		won := c.want(do(c.q, takeAll("t", 10*time.Second, "a", "b")), Won)
		won.Undo()
		synctest.Wait()
		if n := c.copies("a", "t") + c.copies("b", "t"); n != 0 {
			t.Errorf("%d copies are left of what was undone", n)
		}
	})
}

// TestDecideAllOverlapping checks that DecideAlls that share keys, in any order and
// through two instances, never give a key to two clients, and all come to an end.
func TestDecideAllOverlapping(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		qs := []*Quorum{c.q, c.redlockd()}
		time.Sleep(3 * time.Second)
		c.slow(time.Millisecond, 0, 1, 2)
		holder := map[string]string{}
		for round := range 30 {
			type try struct {
				token string
				keys  []string
				out   <-chan *Outcome
				q     *Quorum
			}
			var tries []try
			for i := range 6 {
				keys := []string{"a", "b", "c", "d"}
				rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				keys = keys[:1+rand.IntN(3)]
				q := qs[rand.IntN(2)]
				token := fmt.Sprint("t", round, ".", i)
				op := takeAll(token, 10*time.Second, keys...)
				if len(keys) == 1 {
					op = acquire(keys[0], token, 10*time.Second)
				}
				tries = append(tries, try{token, keys, start(q, op), q})
			}
			var won []try
			for _, x := range tries {
				o := <-x.out
				if o.Verdict == Won && o.Done != Read {
					won = append(won, x)
					for _, key := range x.keys {
						if other := holder[key]; other != "" {
							t.Fatalf("%s is held by %s and by %s", key, other, x.token)
						}
						holder[key] = x.token
					}
				}
			}
			for _, x := range won {
				c.want(do(x.q, giveAll(x.token, x.keys...)), Won)
				for _, key := range x.keys {
					delete(holder, key)
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

package quorum

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/fakeredis"
)

// distant is a redlockd whose way to the masters can be long, unlike that of others.
type distant struct {
	*Quorum
	wires []*fakeredis.Wire
}

func (d *distant) farther(way time.Duration) {
	for _, w := range d.wires {
		w.Away(way)
	}
}

// onTheWay starts an operation whose bytes take this long to the masters.
func (d *distant) onTheWay(way time.Duration, op Op) <-chan *Outcome {
	d.farther(way)
	out := start(d.Quorum, op)
	synctest.Wait()
	d.farther(0)
	return out
}

// two starts a second, distant redlockd, and has the marks raised for the TTLs of the
// test.
func (c *testCluster) two() (one *distant, other *Quorum) {
	one = &distant{}
	cfg := c.cfg
	c.cfg.Masters = slices.Clone(cfg.Masters)
	for i, f := range c.masters {
		w := f.newWire()
		one.wires = append(one.wires, w)
		c.cfg.Masters[i].Dial = w.Dial
	}
	one.Quorum = c.redlockd()
	c.cfg = cfg
	time.Sleep(3 * time.Second)
	for i, q := range c.all {
		c.want(do(q, acquire(fmt.Sprint("warm", i), "t", 30*time.Second)), Won)
		time.Sleep(time.Second)
	}
	return one, c.q
}

func extend(key, token string, ttl time.Duration) Op {
	return Op{Kind: Extend, Key: key, Token: token, TTL: ttl}
}

// TestV6DeniedExtendShortensNothing checks that an Extend or AcquireOrExtend that was
// answered NOQUORUM, and reaches the masters 5 ms after that, does not shorten what was
// granted since (V6).
func TestV6DeniedExtendShortensNothing(t *testing.T) {
	for _, kind := range []Kind{Extend, AcquireOrExtend} {
		inBubble(t, 3, func(c *testCluster) {
			one, other := c.two()
			for look := range looksApart {
				key := fmt.Sprint("k", look)
				c.want(do(one.Quorum, acquire(key, "A", 10*time.Second)), Won)
				time.Sleep(look * 100 * time.Millisecond)
				out := one.onTheWay(c.cfg.Timeout+5*time.Millisecond, Op{Kind: kind, Key: key, Token: "A", TTL: time.Second})
				c.want(<-out, Undecided)
				c.want(do(other, extend(key, "A", 20*time.Second)), Won)
				time.Sleep(1500 * time.Millisecond)
				c.want(do(other, acquire(key, "B", 10*time.Second)), Held)
			}
		})
	}
}

// looksApart is the number of tenths of a second after which an operation begins, one
// after the other, so that the newest look is of every age.
const looksApart = time.Duration(10)

// TestV6SlowExtendShortensNothing checks that an extend that a majority carried out in
// time does not shorten a newer one either when it reaches a slow master after its
// client was answered (V6).
func TestV6SlowExtendShortensNothing(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		one, other := c.two()
		for look := range looksApart {
			key := fmt.Sprint("k", look)
			c.want(do(one.Quorum, acquire(key, "A", 2*time.Second)), Won)
			time.Sleep(100*time.Millisecond + look*100*time.Millisecond)
			slow := c.masters[2]
			slow.away(40 * time.Millisecond)
			c.want(do(one.Quorum, extend(key, "A", time.Second)), Won)
			synctest.Wait()
			slow.away(0)
			c.masters[0].freeze()
			c.want(do(other, extend(key, "A", 20*time.Second)), Won)
			time.Sleep(time.Second)
			c.masters[0].thaw()
			time.Sleep(time.Second)
			if o := do(other, acquire(key, "B", 10*time.Second)); o.Verdict == Won {
				t.Error("B has the lock that was granted to A for 20s two seconds before")
			}
		}
	})
}

// TestV6NothingActsAfterItsAnswer checks that an operation that may end or shorten a
// lock taken later is answered only when it cannot act any more, whether it reaches the
// masters shortly after the timeout or long after (V6).
func TestV6NothingActsAfterItsAnswer(t *testing.T) {
	none := func(*testCluster, *Quorum, string) {}
	held := func(c *testCluster, q *Quorum, key string) { c.want(do(q, acquire(key, "A", 10*time.Second)), Won) }
	for _, late := range []struct {
		name   string
		before func(*testCluster, *Quorum, string)
		op     Op
		then   Op
	}{
		{"DEL", none, Op{Kind: Remove}, acquire("", "A", 20*time.Second)},
		{"SET", none, Op{Kind: Store, Token: "X", TTL: time.Second}, acquire("", "A", 20*time.Second)},
		{"SET XX", held, Op{Kind: Store, Token: "X", TTL: time.Second, IfPresent: true}, extend("", "A", 20*time.Second)},
		{"PEXPIRE", held, Op{Kind: Expire, TTL: time.Second}, extend("", "A", 20*time.Second)},
		{"replace", held, Op{Kind: Extend, Token: "A", NewToken: "N", Replace: true, TTL: time.Second}, extend("", "A", 20*time.Second)},
	} {
		for _, way := range []time.Duration{2 * time.Millisecond, 15 * time.Millisecond, 25 * time.Millisecond, 150 * time.Millisecond} {
			t.Run(fmt.Sprint(late.name, " ", way), func(t *testing.T) {
				inBubble(t, 3, func(c *testCluster) {
					one, other := c.two()
					for look := range looksApart {
						key := fmt.Sprint("k", look)
						late.op.Key, late.then.Key = key, key
						late.before(c, one.Quorum, key)
						time.Sleep(look * 100 * time.Millisecond)
						began := time.Now()
						c.want(<-one.onTheWay(c.cfg.Timeout+way, late.op), Undecided)
						if took := time.Since(began); took > c.cfg.Timeout+c.cfg.Grace() {
							t.Errorf("answered after %v", took)
						}
						// The client's next operation, unless the first one was carried
						// out.
						o := do(other, late.then)
						time.Sleep(1500 * time.Millisecond)
						if n := c.copies(key, "A"); o.Verdict == Won && n != 3 {
							t.Errorf("%d copies of the lock that was granted after that, want 3", n)
						}
					}
				})
			})
		}
	}
}

// TestV6NoTransactionActsAfterItsAnswer checks that an EXEC that deletes, too, is
// answered only when it cannot act any more (V6).
func TestV6NoTransactionActsAfterItsAnswer(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		one, other := c.two()
		for look := range looksApart {
			key := fmt.Sprint("k", look)
			c.want(do(one.Quorum, acquire(key, "A", 10*time.Second)), Won)
			time.Sleep(look * 100 * time.Millisecond)
			op := giveAll("A", key)
			give := op.DecideAll
			op.DecideAll = func(s []State) []Change {
				// The read before it has looked at the clocks.
				one.farther(c.cfg.Timeout + time.Millisecond)
				return give(s)
			}
			out := start(one.Quorum, op)
			synctest.Wait()
			one.farther(0)
			<-out
			o := do(other, extend(key, "A", 20*time.Second))
			time.Sleep(1500 * time.Millisecond)
			if n := c.copies(key, "A"); o.Verdict == Won && n != 3 {
				t.Errorf("%d copies of the lock that was granted after that, want 3", n)
			}
		}
	})
}

// TestV6ExtendMayShorten checks that an extend may shorten a lock by a second fan-out,
// and is answered when that cannot act any more (V6).
func TestV6ExtendMayShorten(t *testing.T) {
	for _, version := range []string{"6.2.14", "7.2.0"} {
		for _, op := range []Op{extend("k", "A", time.Second), {Kind: AcquireOrExtend, Key: "k", Token: "A", TTL: time.Second}} {
			inBubble(t, 3, func(c *testCluster) {
				for _, f := range c.masters {
					f.set(func() { f.Version = version })
				}
				one, other := c.two()
				c.want(do(other, acquire("k", "A", 20*time.Second)), Won)
				if o := c.want(do(one.Quorum, op), Won); op.Kind == AcquireOrExtend && !o.Prolonged {
					t.Error("answered as acquired, but it was extended")
				}
				if o := c.want(do(other, Op{Kind: Read, Key: "k"}), Held); o.State.TTL > time.Second {
					t.Errorf("%v are left of what was extended to 1s", o.State.TTL)
				}
				time.Sleep(1500 * time.Millisecond)
				c.want(do(other, acquire("k", "B", 10*time.Second)), Won)
			})
		}
	}
}

func TestV6ShorteningActsNotAfterItsAnswer(t *testing.T) {
	for _, kind := range []Kind{Extend, AcquireOrExtend} {
		for _, way := range []time.Duration{55 * time.Millisecond, 200 * time.Millisecond} {
			inBubble(t, 3, func(c *testCluster) {
				one, other := c.two()
				c.want(do(one.Quorum, acquire("k", "A", 10*time.Second)), Won)
				out := one.onTheWay(10*time.Millisecond, Op{Kind: kind, Key: "k", Token: "A", TTL: time.Second})
				one.farther(way) // the second fan-out
				time.Sleep(20 * time.Millisecond)
				one.farther(0)
				c.want(<-out, Won) // its reply is late, and renewed
				c.want(do(other, extend("k", "A", 20*time.Second)), Won)
				time.Sleep(1500 * time.Millisecond)
				c.want(do(other, acquire("k", "B", 10*time.Second)), Held)
			})
		}
	}
}

// TestV6ShortensWhatIsStillItsOwn checks that the second fan-out of an extend to less spares what
// another instance has extended meanwhile (V6).
func TestV6ShortensWhatIsStillItsOwn(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		one, other := c.two()
		c.want(do(one.Quorum, acquire("k", "A", 10*time.Second)), Won)
		out := one.onTheWay(10*time.Millisecond, extend("k", "A", time.Second))
		one.farther(30 * time.Millisecond) // the second fan-out
		time.Sleep(20 * time.Millisecond)
		one.farther(0)
		c.want(do(other, extend("k", "A", 20*time.Second)), Won)
		c.want(<-out, Won)
		time.Sleep(1500 * time.Millisecond)
		c.want(do(other, acquire("k", "B", 10*time.Second)), Held)
	})
}

// TestV6ExtendedIsNotRolledBack checks that the rollback of an acquire spares a copy
// that was extended since, even if it already had as late an expiry (V6).
func TestV6ExtendedIsNotRolledBack(t *testing.T) {
	for _, version := range []string{"6.2.14", "7.2.0"} {
		inBubble(t, 3, func(c *testCluster) {
			for _, f := range c.masters {
				f.set(func() { f.Version = version })
			}
			one, other := c.two()
			for round := range 40 {
				key := fmt.Sprint("k", round)
				o := c.want(do(other, acquire(key, "A", 10*time.Second)), Won)
				synctest.Wait()
				ttl := 10*time.Second - time.Duration(round%3)*20*time.Millisecond
				c.want(do(one.Quorum, extend(key, "A", ttl)), Won)
				synctest.Wait()
				o.Undo()
				synctest.Wait()
				if n := c.copies(key, "A"); n != 3 {
					t.Fatalf("round %d: %d copies of the lock that was extended, want 3", round, n)
				}
				time.Sleep(7 * time.Millisecond)
			}
		})
	}
}

// TestV6WaitsForNoFrozenMaster checks that an operation that is answered only when it
// cannot act any more does not wait for masters known to be frozen (V6).
func TestV6WaitsForNoFrozenMaster(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "A", 10*time.Second)), Won)
		c.masters[0].freeze()
		time.Sleep(2 * time.Second)
		began := time.Now()
		c.want(do(c.q, Op{Kind: Expire, Key: "k", TTL: time.Second}), Won)
		c.want(do(c.q, extend("k", "A", 500*time.Millisecond)), Won)
		c.want(do(c.q, Op{Kind: Remove, Key: "k"}), Won)
		if took := time.Since(began); took > 0 {
			t.Errorf("took %v with one frozen master", took)
		}
	})
}

// TestV6DeadlineRejectsNothingInTime checks that a vote that comes in time is never
// rejected because of its deadline, whatever the age of the look from which the
// deadline was counted (V6).
func TestV6DeadlineRejectsNothingInTime(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		one, _ := c.two()
		c.want(do(one.Quorum, acquire("k", "A", 60*time.Second)), Won)
		for age := range 40 {
			time.Sleep(time.Second + time.Duration(age)*50*time.Millisecond)
			c.want(<-one.onTheWay(c.cfg.Timeout-time.Millisecond, extend("k", "A", 60*time.Second)), Won)
		}
	})
}

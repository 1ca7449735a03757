package quorum

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// onTheWay starts an operation whose bytes take so long to the masters, and
// nobody else's.
func (c *cluster) onTheWay(way time.Duration, q *Quorum, op Op) <-chan *Outcome {
	c.farther(way)
	out := start(q, op)
	synctest.Wait()
	c.farther(0)
	return out
}

// farther makes what is written from now on take so long to all masters.
func (c *cluster) farther(way time.Duration) {
	for _, f := range c.masters {
		f.set(func() { f.way = way })
	}
}

func extend(key, token string, ttl time.Duration) Op {
	return Op{Kind: Extend, Key: key, Token: token, TTL: ttl}
}

// two are two redlockd that both vote.
func (c *cluster) two() (one, other *Quorum) {
	other = c.redlockd()
	time.Sleep(3 * time.Second)
	return c.q, other
}

// V6: an extend that was answered NOQUORUM, and an acquire-or-extend, shortens
// nothing that was told since: they act on the masters 5 ms after the answer.
func TestV6DeniedExtendShortensNothing(t *testing.T) {
	for _, kind := range []Kind{Extend, AcquireOrExtend} {
		inBubble(t, 3, func(c *cluster) {
			one, other := c.two()
			for look := range looksApart {
				key := fmt.Sprint("k", look)
				c.want(do(one, acquire(key, "A", 10*time.Second)), Won)
				time.Sleep(look * 100 * time.Millisecond)
				out := c.onTheWay(c.cfg.Timeout+5*time.Millisecond, one, Op{Kind: kind, Key: key, Token: "A", TTL: time.Second})
				c.want(<-out, Undecided)
				c.want(do(other, extend(key, "A", 20*time.Second)), Won)
				time.Sleep(1500 * time.Millisecond)
				c.want(do(other, acquire(key, "B", 10*time.Second)), Held)
			}
		})
	}
}

// looksApart is after how many tenths of a second an operation may begin, so that
// the newest look is of every age.
const looksApart = time.Duration(10)

// V6: what a majority has carried out in time, and one slow master after the
// client was told, shortens nothing there either.
func TestV6SlowExtendShortensNothing(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		one, other := c.two()
		for look := range looksApart {
			key := fmt.Sprint("k", look)
			c.want(do(one, acquire(key, "A", time.Second)), Won)
			time.Sleep(100*time.Millisecond + look*100*time.Millisecond)
			slow := c.masters[2]
			slow.set(func() { slow.way = 40 * time.Millisecond })
			c.want(do(one, extend(key, "A", time.Second)), Won)
			synctest.Wait()
			slow.set(func() { slow.way = 0 })
			c.masters[0].freeze()
			c.want(do(other, extend(key, "A", 20*time.Second)), Won)
			time.Sleep(time.Second)
			c.masters[0].thaw()
			time.Sleep(time.Second)
			if o := do(other, acquire(key, "B", 10*time.Second)); o.Verdict == Won {
				t.Error("B has the lock that A was told for 20s, two seconds before")
			}
		}
	})
}

// V6: what does harm when it is late (it ends or shortens what another one has
// taken since) is answered only when it cannot act any more, whether it comes to
// the masters a little after the timeout or long after.
func TestV6NothingActsAfterItsAnswer(t *testing.T) {
	none := func(*cluster, *Quorum, string) {}
	held := func(c *cluster, q *Quorum, key string) { c.want(do(q, acquire(key, "A", 10*time.Second)), Won) }
	for _, late := range []struct {
		name   string
		before func(*cluster, *Quorum, string)
		op     Op
		then   Op
	}{
		{"DEL", none, Op{Kind: Remove}, acquire("", "A", 20*time.Second)},
		{"SET", none, Op{Kind: Store, Token: "X", TTL: time.Second}, acquire("", "A", 20*time.Second)},
		{"SET XX", held, Op{Kind: Store, Token: "X", TTL: time.Second, IfPresent: true}, extend("", "A", 20*time.Second)},
		{"PEXPIRE", held, Op{Kind: Expire, TTL: time.Second}, extend("", "A", 20*time.Second)},
		{"replace", held, Op{Kind: Extend, Token: "A", NewToken: "N", Replace: true, TTL: time.Second}, extend("", "A", 20*time.Second)},
	} {
		for _, way := range []time.Duration{2 * time.Millisecond, 15 * time.Millisecond, 150 * time.Millisecond} {
			t.Run(fmt.Sprint(late.name, " ", way), func(t *testing.T) {
				inBubble(t, 3, func(c *cluster) {
					one, other := c.two()
					for look := range looksApart {
						key := fmt.Sprint("k", look)
						late.op.Key, late.then.Key = key, key
						late.before(c, one, key)
						time.Sleep(look * 100 * time.Millisecond)
						began := time.Now()
						c.want(<-c.onTheWay(c.cfg.Timeout+way, one, late.op), Undecided)
						if took := time.Since(began); took > c.cfg.Timeout+c.cfg.grace() {
							t.Errorf("answered after %v", took)
						}
						// The client's next, unless the first was carried out.
						if o := do(other, late.then); o.Verdict != Won {
							continue
						}
						time.Sleep(1500 * time.Millisecond)
						if n := c.copies(key, "A"); n != 3 {
							t.Errorf("%d copies of the lock that was told after that, want 3", n)
						}
					}
				})
			})
		}
	}
}

// V6: likewise what EXEC deletes.
func TestV6NoTransactionActsAfterItsAnswer(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		one, other := c.two()
		for look := range looksApart {
			key := fmt.Sprint("k", look)
			c.want(do(one, acquire(key, "A", 10*time.Second)), Won)
			time.Sleep(look * 100 * time.Millisecond)
			op := giveAll("A", key)
			give := op.DecideAll
			op.DecideAll = func(s []State) []Change {
				// The read before it has looked at the clocks.
				c.farther(c.cfg.Timeout + time.Millisecond)
				return give(s)
			}
			out := start(one, op)
			synctest.Wait()
			c.farther(0)
			<-out
			if o := do(other, extend(key, "A", 20*time.Second)); o.Verdict != Won {
				continue
			}
			time.Sleep(time.Second)
			if n := c.copies(key, "A"); n != 3 {
				t.Errorf("%d copies of the lock that was told after that, want 3", n)
			}
		}
	})
}

// V6: an extend may shorten, in a second fan-out, which is answered when it
// cannot act any more.
func TestV6ExtendMayShorten(t *testing.T) {
	for _, version := range []string{"6.2.14", "7.2.0"} {
		for _, op := range []Op{extend("k", "A", time.Second), {Kind: AcquireOrExtend, Key: "k", Token: "A", TTL: time.Second}} {
			inBubble(t, 3, func(c *cluster) {
				for _, f := range c.masters {
					f.set(func() { f.version = version })
				}
				_, other := c.two()
				c.want(do(c.q, acquire("k", "A", 20*time.Second)), Won)
				if o := c.want(do(other, op), Won); op.Kind == AcquireOrExtend && !o.Prolonged {
					t.Error("told as acquired, but it was extended")
				}
				if o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held); o.State.TTL > time.Second {
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
			inBubble(t, 3, func(c *cluster) {
				one, other := c.two()
				c.want(do(one, acquire("k", "A", 10*time.Second)), Won)
				out := c.onTheWay(10*time.Millisecond, one, Op{Kind: kind, Key: "k", Token: "A", TTL: time.Second})
				c.farther(way) // the second fan-out
				time.Sleep(20 * time.Millisecond)
				c.farther(0)
				c.want(<-out, Undecided)
				c.want(do(other, extend("k", "A", 20*time.Second)), Won)
				time.Sleep(1500 * time.Millisecond)
				c.want(do(other, acquire("k", "B", 10*time.Second)), Held)
			})
		}
	}
}

// V6: what an extend found with as late an expiry is the rollback's no more:
// the acquire may be undone after it.
func TestV6ExtendedIsNotRolledBack(t *testing.T) {
	for _, version := range []string{"6.2.14", "7.2.0"} {
		inBubble(t, 3, func(c *cluster) {
			for _, f := range c.masters {
				f.set(func() { f.version = version })
			}
			_, other := c.two()
			for round := range 40 {
				key := fmt.Sprint("k", round)
				o := c.want(do(c.q, acquire(key, "A", 10*time.Second)), Won)
				synctest.Wait()
				ttl := 10*time.Second - time.Duration(round%3)*20*time.Millisecond
				c.want(do(other, extend(key, "A", ttl)), Won)
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

// V6: what waits for its answer waits for no master that is known to be frozen.
func TestV6WaitsForNoFrozenMaster(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
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

// V6: a vote that comes in time is never rejected for its deadline, whatever the
// age of the look that it is counted from.
func TestV6DeadlineRejectsNothingInTime(t *testing.T) {
	inBubble(t, 3, func(c *cluster) {
		c.want(do(c.q, acquire("k", "A", 60*time.Second)), Won)
		for age := range 40 {
			time.Sleep(time.Second + time.Duration(age)*50*time.Millisecond)
			c.want(<-c.onTheWay(c.cfg.Timeout-time.Millisecond, c.q, extend("k", "A", 60*time.Second)), Won)
		}
	})
}

package quorum

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// looksAt waits until a look has asked a master for all that it needs, so that the
// write that follows it is on its way. last is the beginning of the look's last
// command.
func (f *fakeMaster) looksAt(last string) {
	for n := len(f.commands(0)); ; time.Sleep(time.Millisecond) {
		lines := f.commands(n)
		at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "INFO") })
		if at >= 0 && slices.ContainsFunc(lines[at:], func(line string) bool { return strings.HasPrefix(line, last) }) {
			return
		}
	}
}

// TestM3MarkLostBeforeItIsWritten checks that a mark is written only over the mark that
// was seen: a master that loses its memory between the look and the write does not get
// its real mark back (M3).
func TestM3MarkLostBeforeItIsWritten(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		f := c.masters[0]
		c.takeBarely(acquire("k", "t", 20*time.Second))
		time.Sleep(3 * time.Second)
		c.slow(5*time.Millisecond, 0)
		f.looksAt("TIME")
		f.FlushAll()
		time.Sleep(20 * time.Millisecond)
		c.slow(0, 0)
		c.noSecondHolder(10*time.Second, acquire("k", "u", time.Second))
	})
}

// TestM3MarkLostBeforeADatabaseIsSealed checks that the script that enters another database
// in the mark does not bring that mark back after it was lost (M3).
func TestM3MarkLostBeforeADatabaseIsSealed(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		f := c.masters[0]
		c.takeBarely(acquire("k", "t", 20*time.Second))
		time.Sleep(3500 * time.Millisecond) // no look comes in between
		c.slow(5*time.Millisecond, 0)
		c.q.Open(3, func() {})
		f.looksAt("TIME")
		f.FlushAll()
		time.Sleep(20 * time.Millisecond)
		c.slow(0, 0)
		c.noSecondHolder(10*time.Second, acquire("k", "u", time.Second))
	})
}

// TestM8MarkIsRaisedMeanwhile checks that a redlockd that looked at a mark before
// another one raised it does not lower it to an earlier generation (M8, why 127).
func TestM8MarkIsRaisedMeanwhile(t *testing.T) {
	inBubbleWith(t, 3, short, func(c *testCluster) {
		f := c.masters[0]
		m := f.markOf(t)
		list, before := m.Masters+",00000000", m.Masters
		time.Sleep(500 * time.Millisecond) // no look is under way
		c.slow(5*time.Millisecond, 0)
		c.q.cluster.RaiseMarks(mark.Generation{Number: 2, Phase: mark.Announced, Masters: list, Before: before})
		f.looksAt("TIME")
		to := m.With(func(m *mark.Mark) {
			m.Generation = mark.Generation{Number: 2, Phase: mark.Closed, Masters: list, Before: before}
		})
		f.Set(mark.Key, to.String())
		for range 100 {
			time.Sleep(5 * time.Millisecond)
			if m := f.markOf(t); m.Number != 2 || m.Phase != mark.Closed {
				t.Fatalf("the mark is lowered to %v", m)
			}
		}
	})
}

// in calls do with a master's database selected.
func (f *fakeMaster) in(db int, do func()) {
	f.Select(db)
	defer f.Select(0)
	do()
}

// sealed reports whether a database of a master has the seal of the master's mark.
func (f *fakeMaster) sealed(t *testing.T, db int) bool {
	return f.valueIn(db, mark.Key) == f.markOf(t).Seal(db)
}

// TestM3FirstUseOfADatabase checks that a database is used for the first time only if the mark
// is the one by which database 0 goes, this master's and of this run, and does not list it (M3).
func TestM3FirstUseOfADatabase(t *testing.T) {
	for _, r := range []struct {
		name   string
		change func(m *mark.Mark)
		first  bool
	}{
		{"as it is", func(*mark.Mark) {}, true},
		{"another", func(m *mark.Mark) { m.ID = "another" }, false},
		{"another master's", func(m *mark.Mark) { m.Name = "z" }, false},
		{"of an earlier run", func(m *mark.Mark) { m.RunID = "run-before" }, false},
		{"of an earlier time", func(m *mark.Mark) { m.Beat -= 2 }, false},
		{"which lists it", func(m *mark.Mark) { m.DBs = []int{3} }, false},
	} {
		t.Run(r.name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				f := c.masters[0]
				time.Sleep(3500 * time.Millisecond) // no look comes in between
				f.changeMark(r.change)
				was := f.markOf(t).ID
				open(c.q, 3)
				time.Sleep(100 * time.Millisecond)
				if got := f.valueIn(3, mark.Key) == "3 "+was; got != r.first {
					t.Errorf("it is used: %v, want %v", got, r.first)
				}
			})
		})
	}
}

// TestM3DatabaseIsFlushed checks that a master that has lost one database votes in none until
// all that it may have forgotten is over, whoever sees it (M3, why 75). A has the lock on a and
// TestM3DatabaseIsSwapped checks that a master has lost its mark if SWAPDB has exchanged databases,
// also if only one batch has seen that, and they are back before the next look: what the batch has
// deleted may have been another database's lock.
func TestM3DatabaseIsSwapped(t *testing.T) {
	for _, swap := range [][2]int{{0, 3}, {3, 5}} {
		for _, db := range []int{0, 3} {
			if swap[0] != 0 && db == 0 {
				continue // database 0 does not see that
			}
			t.Run(fmt.Sprint(swap, db), func(t *testing.T) {
				inBubble(t, 3, func(c *testCluster) {
					open(c.q, 3)
					open(c.q, 5)
					time.Sleep(2500 * time.Millisecond) // no look comes in between
					f := c.masters[1]
					was := f.markOf(t).ID
					f.set(func() { f.Delay = 10 * time.Millisecond }) // before each command
					out := start(c.q, Op{Kind: Remove, DB: db, Key: "k"})
					time.Sleep(15 * time.Millisecond)
					f.set(func() { f.SwapDB(swap[0], swap[1]) }) // the mark is read now
					time.Sleep(10 * time.Millisecond)
					f.set(func() { f.SwapDB(swap[0], swap[1]); f.Delay = 0 })
					<-out
					time.Sleep(time.Second)
					if m := f.markOf(t); m.ID == was || m.Real {
						t.Errorf("its mark is %+v", m)
					}
				})
			})
		}
	}
}

// TestM3DatabaseIsSwappedForLong checks the same where a look has seen that the mark is not there.
func TestM3DatabaseIsSwappedForLong(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		open(c.q, 3)
		time.Sleep(time.Second)
		f := c.masters[1]
		was := f.markOf(t).ID
		f.set(func() { f.SwapDB(0, 3) })
		time.Sleep(3 * time.Second)
		if s := c.state(1); s.State != Refused {
			t.Errorf("while a seal is in place of the mark: %+v", s)
		}
		f.set(func() { f.SwapDB(0, 3) })
		time.Sleep(3 * time.Second)
		if m := f.markOf(t); m.ID == was {
			t.Errorf("its mark is %+v", m)
		}
	})
}

// b; a's database 3 is flushed, or swapped with another one.
func TestM3DatabaseIsFlushed(t *testing.T) {
	flushed := func(f *fakeMaster) { f.in(3, f.FlushDB) }
	for name, loses := range map[string]func(f *fakeMaster){
		"flushed": flushed,
		"swapped": func(f *fakeMaster) {
			flushed(f)
			f.in(3, func() { f.Set(mark.Key, strings.Replace(f.valueIn(5, mark.Key), "3 ", "5 ", 1)) })
		},
		// All of its memory is of a moment before, when the database was not used yet.
		"back before its first use": func(f *fakeMaster) {
			flushed(f)
			f.changeMark(func(m *mark.Mark) { m.DBs = nil })
		},
		"back before its first use, and looked at": func(f *fakeMaster) {
			flushed(f)
			f.changeMark(func(m *mark.Mark) { m.DBs = nil })
			time.Sleep(2 * time.Second)
		},
	} {
		for _, opens := range []bool{false, true} {
			if opens && strings.HasPrefix(name, "back before its first use") {
				continue // who has never used it cannot know
			}
			t.Run(fmt.Sprint(name, opens), func(t *testing.T) {
				inBubble(t, 3, func(c *testCluster) {
					a := acquire("k", "A", 20*time.Second)
					a.DB = 3
					open(c.q, 3)
					open(c.q, 5)
					other := c.redlockd()
					time.Sleep(5 * time.Second)
					c.masters[2].kill()
					c.want(do(c.q, a), Won)
					c.masters[2].mend()
					time.Sleep(2500 * time.Millisecond) // no look comes in between
					f, b := c.masters[0], a
					was := f.markOf(t).ID
					loses(f)
					q := c.q
					if opens {
						q = other
						open(q, 3)
					}
					b.Token, b.TTL = "B", time.Second
					for began := time.Now(); time.Since(began) < 15*time.Second; time.Sleep(50 * time.Millisecond) {
						if o := do(q, b); o.Verdict == Won {
							t.Fatalf("a second holder after %v: %+v", time.Since(began), q.cluster.Database(3).Status())
						}
						if m := f.markOf(t); time.Since(began) > time.Second && (m.ID == was || m.Real) {
							t.Fatalf("after %v its mark is %+v", time.Since(began), m)
						}
					}
					c.votesAgain(0)
					time.Sleep(2 * time.Second)
					if d := q.cluster.Database(3); d.Voting() != 3 || !f.sealed(t, 3) {
						t.Errorf("%d vote in database 3: %+v", d.Voting(), d.Status())
					}
				})
			})
		}
	}
}

// TestM3AnotherMarkStandsThere checks that no vote counts under another mark than the
// one that was expected: one that is pending or of another run, master or database
// (M3). Neither the votes of that batch count nor those before the next look, even if
// the master has the seat (M9).
func TestM3AnotherMarkStandsThere(t *testing.T) {
	another := func(m *mark.Mark) { m.ID = "another" }
	for name, change := range map[string]func(m *mark.Mark){
		"pending":           func(m *mark.Mark) { m.Real, m.Why = false, mark.WhyForgotten; another(m) },
		"of another run":    func(m *mark.Mark) { m.RunID = "run-before"; another(m) },
		"of another master": func(m *mark.Mark) { m.Name = "z"; another(m) },

		"pending, its seat":           func(m *mark.Mark) { m.Real, m.Why = false, mark.WhyForgotten },
		"of another run, its seat":    func(m *mark.Mark) { m.RunID = "run-before" },
		"of another master, its seat": func(m *mark.Mark) { m.Name = "z" },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 5, func(c *testCluster) {
				f := c.masters[0]
				c.takeBarely(acquire("k", "t", 20*time.Second))
				time.Sleep(3500 * time.Millisecond) // no look comes in between
				m := f.markOf(t).With(change)
				m.Seen = time.Now().UnixMilli()
				f.FlushAll()
				f.Set(mark.Key, m.String())
				c.noSecondHolder(2*time.Second, acquire("k", "u", time.Second))
			})
		})
	}
}

// TestM3VoteUnderAnotherMark checks that a master that has lost its memory since it was asked
// has no vote, although another instance has written a new mark by then (M3). A has the lock
// on a b c. B's acquire is on its way to a and b as both lose their memory.
func TestM3VoteUnderAnotherMark(t *testing.T) {
	for _, real := range []bool{false, true} {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("k", "A", 10*time.Second)), Won)
			time.Sleep(200 * time.Millisecond)
			for _, f := range c.masters {
				f.away(5 * time.Millisecond)
			}
			out := make(chan *Outcome, 1)
			go func() { out <- do(c.q, acquire("k", "B", 10*time.Second)) }()
			time.Sleep(2 * time.Millisecond)
			for i, f := range c.masters[:2] {
				m := c.markOf(i).With(func(m *mark.Mark) { m.ID, m.Real, m.Why = mark.NewID(), real, "new" })
				f.FlushAll()
				f.Set(mark.Key, m.String())
			}
			if o := <-out; o.Verdict == Won {
				t.Errorf("real %v: a second holder", real)
			}
		})
	}
}

// TestM3OperationBesideALook checks that what is asked at the very moment of a look which
// writes the mark is decided, where every master that is left is needed (why 79).
func TestM3OperationBesideALook(t *testing.T) {
	looks := 1000 // which goroutine comes first is chance
	if raceEnabled {
		looks = 300
	}
	inBubble(t, 3, func(c *testCluster) {
		c.masters[2].kill()
		time.Sleep(5 * time.Second)
		link := c.q.cluster.Opened(0).List().Links[0]
		for range looks {
			_, sent := link.LookedAt()
			time.Sleep(sent + time.Second - c.q.now())
			var outcomes []<-chan *Outcome
			for i := range 20 {
				outcomes = append(outcomes, start(c.q, acquire(fmt.Sprint("k", i), "t", 100*time.Millisecond)))
			}
			for _, o := range outcomes {
				c.want(<-o, Won)
			}
		}
	})
}

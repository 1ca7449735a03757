package quorum

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
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

// TestM3MarkLostBeforeADatabaseIsListed checks that the script that lists another
// database in the mark of database 0 does not bring that mark back after it was lost
// (M3).
func TestM3MarkLostBeforeADatabaseIsListed(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		f := c.masters[0]
		c.takeBarely(acquire("k", "t", 20*time.Second))
		time.Sleep(3500 * time.Millisecond) // no look comes in between
		c.slow(5*time.Millisecond, 0)
		c.q.Open(3, func() {})
		f.looksAt("SELECT 3") // of the script that reads the mark of database 0
		f.FlushAll()
		time.Sleep(20 * time.Millisecond)
		c.slow(0, 0)
		c.noSecondHolder(10*time.Second, acquire("k", "u", time.Second))
	})
}

// TestM8MarkIsRaisedMeanwhile checks that a redlockd that looked at a mark before
// another one raised it does not lower it to an earlier generation (M8).
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

// bearsRealMark reports whether a master has a real mark in a database.
func (f *fakeMaster) bearsRealMark(db int) (real bool) {
	f.in(db, func() {
		m, err := mark.Parse(f.holds(mark.Key))
		real = err == nil && m.Real
	})
	return real
}

// TestM3FirstUseOfADatabase checks that a database is used for the first time only if
// the mark of database 0 is real, this master's, of this run, and does not list it
// (M3).
func TestM3FirstUseOfADatabase(t *testing.T) {
	for _, r := range []struct {
		name  string
		zero  func(m *mark.Mark)
		first bool
	}{
		{"as it is", func(*mark.Mark) {}, true},
		{"pending", func(m *mark.Mark) { m.Real, m.Why = false, mark.WhyForgotten }, false},
		{"another master's", func(m *mark.Mark) { m.Name = "z" }, false},
		{"of an earlier run", func(m *mark.Mark) { m.RunID = "run-before" }, false},
		{"which lists it", func(m *mark.Mark) { m.DBs = []int{3} }, false},
	} {
		t.Run(r.name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				f := c.masters[0]
				time.Sleep(500 * time.Millisecond) // no look comes in between
				f.changeMark(r.zero)
				open(c.q, 3)
				time.Sleep(100 * time.Millisecond)
				if got := f.bearsRealMark(3); got != r.first {
					t.Errorf("it has a real mark: %v, want %v", got, r.first)
				}
			})
		})
	}
}

// TestM3DatabaseSeenInUseIsLost checks that a database that this redlockd has seen in
// use does not count as new, although the mark of database 0 was lost, and the one that
// another instance wrote does not list it (M3).
func TestM3DatabaseSeenInUseIsLost(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		cable := c.throughCable(0)
		q := c.redlockd()
		time.Sleep(3 * time.Second)
		open(q, 3)
		k := acquire("k", "t", 10*time.Second)
		k.DB = 3
		c.want(do(q, k), Won)
		time.Sleep(3 * time.Second)
		cable.cut(true)
		time.Sleep(time.Second)
		c.masters[0].FlushAll()
		time.Sleep(3 * time.Second)
		c.votesAgain(0) // of database 0, by the other instance
		cable.cut(false)
		time.Sleep(4 * time.Second)
		if s := q.cluster.Opened(3).Status()[0]; s.State == cluster.Voting {
			t.Errorf("it votes in a database that was lost: %+v", s)
		}
	})
}

// TestM3AnotherMarkStandsThere checks that no vote counts under another mark than the
// one that was expected: one that is pending or of another run, master or database
// (M3). Neither the votes of that batch count nor those before the next look, even if
// the master has the seat (M9).
func TestM3AnotherMarkStandsThere(t *testing.T) {
	another := func(m *mark.Mark) { m.ID = "another" }
	for name, change := range map[string]func(m *mark.Mark){
		"pending":             func(m *mark.Mark) { m.Real, m.Why = false, mark.WhyForgotten; another(m) },
		"of another run":      func(m *mark.Mark) { m.RunID = "run-before"; another(m) },
		"of another master":   func(m *mark.Mark) { m.Name = "z"; another(m) },
		"of another database": func(m *mark.Mark) { m.DB = 3; another(m) },

		"pending, its seat":             func(m *mark.Mark) { m.Real, m.Why = false, mark.WhyForgotten },
		"of another run, its seat":      func(m *mark.Mark) { m.RunID = "run-before" },
		"of another master, its seat":   func(m *mark.Mark) { m.Name = "z" },
		"of another database, its seat": func(m *mark.Mark) { m.DB = 3 },
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

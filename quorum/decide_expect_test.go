package quorum

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// counting is a lock that its holder counts up, as hashes do: take is the holder's acquire, give
// its release, of a lock that is expected to be in the state that was seen last.
type counting struct {
	seen  State
	known bool
}

func (s counting) op(decide func(State) Op) Op {
	return Op{Kind: Decide, Key: "k", Decide: decide, Expect: func() (State, bool) { return s.seen, s.known }}
}

// turns are the values of a holder who has the lock that often.
const turns = "123456789"

func takeTurn(s State) Op {
	if !s.Found {
		return acquire("k", "1", 10*time.Second)
	}
	return Op{Kind: Extend, Key: "k", Token: s.Token, Replace: true, NewToken: turns[s.Token[0]-'0' : s.Token[0]-'0'+1], TTL: 10 * time.Second}
}

func giveTurn(s State) Op {
	switch {
	case !s.Found:
		return Op{Kind: Read, Key: "k"}
	case s.Token == "1":
		return Op{Kind: Release, Key: "k", Token: "1"}
	}
	return Op{Kind: Extend, Key: "k", Token: s.Token, Replace: true, NewToken: turns[s.Token[0]-'2' : s.Token[0]-'1'], TTL: 10 * time.Second}
}

func prolongTurn(s State) Op {
	if !s.Found {
		return Op{Kind: Read, Key: "k"}
	}
	return extend("k", s.Token, 10*time.Second)
}

// TestDecideExpects checks that what is expected takes one round trip, or two to change the token, and that it is only
// compared: where the lock is in another state nothing is done by the expectation, and the lock is
// read, also if no time is left for a retry.
func TestDecideExpects(t *testing.T) {
	for _, budget := range []time.Duration{cluster.DefaultConfig().RetryBudget, 0} {
		inBubbleWith(t, 3, func(cfg *cluster.Config) { cfg.RetryBudget = budget }, wantExpected)
	}
}

func wantExpected(c *testCluster) {
	const one, trip = 2 * time.Millisecond, 6 * time.Millisecond
	c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
	c.slow(one, 0, 1, 2)
	other := c.redlockd()
	time.Sleep(3 * time.Second)
	for i, tt := range []struct {
		name   string
		first  func()
		s      counting
		decide func(State) Op
		trips  int
		holds  string
	}{
		{"absent", nil, counting{State{}, true}, takeTurn, 1, "1"},
		{"held once", nil, counting{State{Found: true, Token: "1"}, true}, takeTurn, 2, "2"},
		{"given back once", nil, counting{State{Found: true, Token: "2"}, true}, giveTurn, 2, "1"},
		{"prolonged", nil, counting{State{Found: true, Token: "1"}, true}, prolongTurn, 1, "1"},
		{"given back", nil, counting{State{Found: true, Token: "1"}, true}, giveTurn, 1, ""},
		{"nothing is known", nil, counting{}, takeTurn, 2, "1"},
		{"what is expected does nothing", nil, counting{State{}, true}, giveTurn, 2, ""},
		{"not absent", func() { do(other, acquire("k", "3", 10*time.Second)) }, counting{State{}, true}, takeTurn, 3, "4"},
		{"counted down elsewhere", func() { do(other, Op{Kind: Decide, Key: "k", Decide: giveTurn}) }, counting{State{Found: true, Token: "4"}, true}, takeTurn, 2, "4"},
		{"counted up elsewhere", nil, counting{State{Found: true, Token: "1"}, true}, giveTurn, 3, "3"},
		{"prolonged, and counted up elsewhere", nil, counting{State{Found: true, Token: "1"}, true}, prolongTurn, 3, "3"},
		{"freed elsewhere", func() { do(other, Op{Kind: Remove, Key: "k"}) }, counting{State{Found: true, Token: "3"}, true}, takeTurn, 2, "1"},
	} {
		if tt.first != nil {
			tt.first()
		}
		justLooked(c.q)
		time.Sleep(5 * trip) // no look is under way
		o := c.want(do(c.q, tt.s.op(tt.decide)), Won)
		time.Sleep(time.Second)
		synctest.Wait()
		if trips := int(o.Took / trip); trips != tt.trips || tt.holds != "" && c.copies("k", tt.holds) != 3 || tt.holds == "" && c.masters[0].holds("k") != "" {
			c.t.Errorf("%d, %s: %v, %d round trips, then %q, want %d and %q", i+1, tt.name, o.Took, trips, c.masters[0].holds("k"), tt.trips, tt.holds)
		}
	}
}

// TestDecideExpectsWhatIsOver checks that a lock whose TTL is over is not prolonged because it is
// expected, though its copies are still there (V15).
func TestDecideExpectsWhatIsOver(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "2", time.Second)), Won)
		time.Sleep(time.Second + 60*time.Millisecond)
		if c.masters[0].holds("k") != "2" {
			t.Fatal("the copies have ended")
		}
		s := counting{State{Found: true, Token: "2"}, true}
		o := c.want(do(c.q, s.op(prolongTurn)), Absent)
		if o.Done != Read {
			t.Errorf("it did a %v", o.Done)
		}
	})
}

// TestDecideExpectsWhatIsOutOfDate checks that what was seen last, and only a minority still has, is
// not counted up there. What was given back there is no reason for the lock that a majority has, but
// may be one where there is none (V1, V8, P4).
func TestDecideExpectsWhatIsOutOfDate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		has    []string // what the others have
		decide func(State) Op
		kind   Kind
		want   Verdict
		holds  []string
	}{
		{"it is free elsewhere", []string{"", ""}, takeTurn, Acquire, Won, []string{"1", "1", "1"}},
		{"it is counted up elsewhere", []string{"2", "2"}, takeTurn, Extend, Won, []string{"1", "3", "3"}},
		{"it is given back, and counted up elsewhere", []string{"2", "2"}, giveTurn, Extend, Won, []string{"1", "1", "1"}},
		{"it is given back, and another's elsewhere", []string{"C", "C"}, giveTurn, Read, Held, []string{"any", "C", "C"}},
		{"it is given back, and half counted up", []string{"2", ""}, giveTurn, Release, Undecided, []string{"", "2", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, 3, func(c *testCluster) {
				c.overwrite("k", "1", 0)
				for i, token := range tt.has {
					if token != "" {
						c.overwrite("k", token, i+1)
					}
				}
				decide := func(s State) Op {
					if s.Token == "C" {
						return Op{Kind: Read, Key: "k"}
					}
					return tt.decide(s)
				}
				s := counting{State{Found: true, Token: "1"}, true}
				o := c.want(do(c.q, s.op(decide)), tt.want)
				if time.Sleep(time.Second); o.Done != tt.kind {
					t.Errorf("it did a %v: %v", o.Done, o.Err)
				}
				for i, want := range tt.holds {
					if got := c.masters[i].holds("k"); got != want && want != "any" {
						t.Errorf("master %d has %q, want %q", i, got, want)
					}
				}
			})
		})
	}
}

// TestDecideGivesBackInTime checks that the last turn is not given back any more once its client was
// told that nobody knows: meanwhile it may have given back another one (V6, C8, why 7).
func TestDecideGivesBackInTime(t *testing.T) {
	for _, known := range []bool{true, false} {
		inBubble(t, 3, func(c *testCluster) {
			c.overwrite("k", "2", 0, 1, 2)
			freeze := func() {
				for _, f := range c.masters {
					f.freeze()
				}
			}
			give := counting{State{Found: true, Token: "1"}, known}.op(func(s State) Op {
				if !known { // by what was read
					c.overwrite("k", "2", 0, 1, 2)
					freeze()
				}
				return release("k", "1")
			})
			if known {
				freeze()
			} else {
				c.overwrite("k", "1", 0, 1, 2)
			}
			c.want(do(c.q, give), Undecided)
			c.overwrite("k", "1", 0, 1, 2) // by the next one, through another instance
			for _, f := range c.masters {
				f.thaw()
			}
			time.Sleep(time.Second)
			if n := c.copies("k", "1"); n != 3 {
				t.Errorf("known %v: %d copies are left", known, n)
			}
		})
	}
}

// TestDecideGivesBackAtOnce checks that the reply to the last turn waits for no master beyond a
// majority (P3).
func TestDecideGivesBackAtOnce(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.tell(do(c.q, acquire("k", "1", time.Minute)))
		time.Sleep(time.Second)
		c.slow(time.Millisecond, 0, 1)
		c.slow(20*time.Millisecond, 2)
		s := counting{State{Found: true, Token: "1"}, true}
		if o := c.want(do(c.q, s.op(giveTurn)), Won); o.Took > 10*time.Millisecond {
			t.Errorf("it took %v", o.Took)
		}
	})
}

// TestDecideGivesBackByItsDeadline checks that the deadline counts from the beginning also where
// earlier connections cannot be ended, and the release waits behind a batch (M3, V6).
func TestDecideGivesBackByItsDeadline(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		for _, f := range c.masters {
			f.set(func() { f.Refused["CLIENT KILL"] = "NOPERM no" })
		}
		other := c.redlockd()
		time.Sleep(5 * time.Second)
		s := counting{State{Found: true, Token: "1"}, true}
		c.tell(do(other, acquire("k", "1", time.Minute)))
		c.want(do(other, s.op(giveTurn)), Won) // the first time the script goes as text
		c.tell(do(other, acquire("k", "1", time.Minute)))
		time.Sleep(100 * time.Millisecond)
		before := len(c.masters[0].commands(0))
		c.slow(5*time.Millisecond, 0, 1, 2)
		go do(other, acquire("another", "t", time.Second))
		time.Sleep(time.Millisecond)
		began := time.Now()
		c.want(do(other, s.op(giveTurn)), Won)
		synctest.Wait()
		for _, line := range c.masters[0].commands(before) {
			if f := strings.Fields(line); len(f) > 4 && f[0] == "EVALSHA" && f[3] == "k" {
				if by, _ := strconv.ParseInt(f[4], 10, 64); by > began.Add(c.cfg.Timeout+c.cfg.Grace()).UnixMilli() {
					t.Errorf("the deadline is %v after the beginning", time.UnixMilli(by).Sub(began))
				}
				return
			}
		}
		t.Error("no script was called")
	})
}

// TestDecideLooksWhereNothingIsSent checks that what was seen last is read where the masters' clocks
// are not known any more, since redlockd stood still: a release is not lost by that.
func TestDecideLooksWhereNothingIsSent(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		s := c.stoppable()
		c.tell(do(c.q, acquire("k", "1", time.Minute)))
		c.pass(2300*time.Millisecond, s)
		seen := counting{State{Found: true, Token: "1"}, true}
		c.want(do(c.q, seen.op(giveTurn)), Won)
	})
}

// TestDecideExpectsLess checks that a holder who prolongs what was expected, and asks for less than
// what is left, gets that (V6).
func TestDecideExpectsLess(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "1", time.Minute)), Won)
		s := counting{State{Found: true, Token: "1"}, true}
		c.want(do(c.q, s.op(func(s State) Op {
			op := prolongTurn(s)
			op.TTL = time.Second
			return op
		})), Won)
		time.Sleep(100 * time.Millisecond)
		for _, f := range c.masters {
			if left := f.TTL("k"); f.holds("k") != "1" || left > 2*time.Second {
				t.Errorf("master %s has %q for %v", f.Name, f.holds("k"), left)
			}
		}
	})
}

// TestDecideMeetsTheLastCopy checks that a holder is told that there was no lock to give back where
// it ended on most masters after it was read (V8).
func TestDecideMeetsTheLastCopy(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "1", time.Second)), Won)
		time.Sleep(100 * time.Millisecond)
		o := c.want(do(c.q, Op{Kind: Decide, Key: "k", Decide: func(s State) Op {
			if s.Found {
				c.masters[1].Del("k")
				c.masters[2].Del("k")
			}
			return giveTurn(s)
		}}), Absent)
		if o.Done != Read {
			t.Errorf("it did a %v", o.Done)
		}
	})
}

// TestDecideExpectedIsUndone checks that an acquire that was expected to find nothing is taken
// back like any other: a client that has gone is not counted in.
func TestDecideExpectedIsUndone(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		s := counting{State{}, true}
		c.want(do(c.q, s.op(takeTurn)), Won).Undo()
		time.Sleep(time.Second)
		if n := c.copies("k", "1"); n != 0 {
			t.Errorf("%d copies are left", n)
		}
		c.want(do(c.q, s.op(takeTurn)), Won)
		if n := c.copies("k", "1"); n < 2 {
			t.Errorf("%d copies of the next one", n)
		}
	})
}

// TestP5DecideOfAClientThatHasGone checks that what an operation that reads first has taken for a
// client that has gone is undone before the next operation on the key: that one, perhaps of the same
// holder, does not count it (P5).
func TestP5DecideOfAClientThatHasGone(t *testing.T) {
	for _, expects := range []bool{false, true} {
		inBubble(t, 3, func(c *testCluster) {
			c.want(do(c.q, acquire("warm", "t", 10*time.Second)), Won)
			c.slow(5*time.Millisecond, 0, 1, 2)
			s, client, second := counting{State{}, expects}, &leaver{}, make(chan *Outcome, 1)
			op, next := s.op(takeTurn), Op{Kind: Decide, Key: "k", Decide: takeTurn}
			c.q.Do(&op, client, func(*Outcome) {}) // nobody reads it, and undoes it
			c.q.Do(&next, new(alive), func(o *Outcome) { second <- o })
			time.Sleep(4 * time.Millisecond)
			client.gone.Store(true)
			c.want(<-second, Won)
			if n := c.copies("k", "1"); n < 2 {
				t.Errorf("expected %v: %d copies of a first turn, and %d of a second", expects, n, c.copies("k", "2"))
			}
		})
	}
}

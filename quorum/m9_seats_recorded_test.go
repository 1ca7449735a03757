package quorum

import (
	"fmt"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/mark"
)

// half is a TTL whose hold is half a second, as the marks record it.
const half = 380 * time.Millisecond

func seatOfA(m *mark.Mark) mark.Seat { return m.Seats[mark.NameHash("a")] }

// moving has a taken by a new server for one instance, which has lost sight of b before b
// recorded that. Another one uses the old a, and b. first is the epoch of the old a's seat.
func (c *testCluster) moving() (old, moved *Quorum, wayToB *way, first int64) {
	c.t.Helper()
	old, ways := c.redlockdOver(c.cfg.Masters)
	first = seatOfA(c.masters[1].markOf(c.t)).Epoch
	c.stop(c.q)
	time.Sleep(3 * time.Second)
	c.want(do(old, acquire("before", "A", half)), Won)
	ways["b"].leads(noRoute)
	ways["c"].leads(noRoute)
	b := c.masters[1]
	b.away(5 * time.Millisecond)
	moved, waysOfMoved := c.redlockdOver(c.moved("a", c.server("run-new")))
	for s := (mark.Seat{}); s.Epoch <= first; time.Sleep(time.Millisecond) {
		s, _ = moved.agreed.Of(mark.NameHash("a"))
	}
	waysOfMoved["b"].leads(noRoute)
	b.away(0)
	ways["b"].leads(b.dial)
	time.Sleep(5 * time.Second)
	if s := seatOfA(b.markOf(c.t)); s.Epoch > first {
		c.t.Fatalf("b records %+v", s)
	}
	return old, moved, waysOfMoved["b"], first
}

// TestM9TimeBeforeTheSeatIsRecorded checks that a new server's quarantine does not count the
// time since its last look when its seat turns out to be recorded: until then R2 may have
// used the old server (M9). A has the old a and b, and B would get the new a and c.
func TestM9TimeBeforeTheSeatIsRecorded(t *testing.T) {
	for phase := range 10 {
		inBubble(t, 3, func(c *testCluster) {
			old, moved, wayToB, first := c.moving()
			b := c.masters[1]
			time.Sleep(time.Duration(phase) * 100 * time.Millisecond)
			wayToB.leads(b.dial)
			taken := map[string]time.Time{}
			for i := 0; seatOfA(b.markOf(t)).Epoch <= first; i++ {
				key, sent := fmt.Sprint("k", i), time.Now()
				c.want(do(old, acquire(key, "A", half)), Won) // on the old a, and b
				taken[key] = sent
				time.Sleep(10 * time.Millisecond)
			}
			for range 60 {
				for key, sent := range taken {
					if time.Since(sent) >= half {
						delete(taken, key)
					} else if o := do(moved, acquire(key, "B", half)); o.Verdict == Won && time.Since(sent) < half {
						t.Fatalf("a second holder of %s after %v", key, time.Since(sent))
					}
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// TestM9SeatThatMovesWithinAnAttempt checks that the old server's vote does not count if
// another master's answer to the same attempt shows that the seat has moved (M9). A has the
// old a, which answers first, and b; B would get the new a and c.
func TestM9SeatThatMovesWithinAnAttempt(t *testing.T) {
	for phase := range 10 {
		inBubble(t, 3, func(c *testCluster) {
			old, _, wayToB, first := c.moving()
			b := c.masters[1]
			wayToB.leads(b.dial)
			for seatOfA(b.markOf(t)).Epoch <= first {
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(time.Duration(phase) * 100 * time.Millisecond)
			b.away(2 * time.Millisecond)
			if o := do(old, acquire("k", "A", half)); o.Verdict == Won {
				t.Fatalf("won by the old server %d00 ms after b recorded the new one", phase)
			}
		})
	}
}

// TestM9AnswersOfAServerWithoutItsSeat checks that nothing counts that an old server answers
// once a redlockd has seen that its seat has moved (M9), also before it looks at that server
// again: what it has may have been released at the new one.
func TestM9AnswersOfAServerWithoutItsSeat(t *testing.T) {
	for phase := range 10 {
		inBubble(t, 3, func(c *testCluster) {
			old, _, wayToB, first := c.moving()
			b := c.masters[1]
			c.want(do(old, acquire("k", "A", half)), Won)
			wayToB.leads(b.dial)
			for seatOfA(b.markOf(t)).Epoch <= first {
				c.want(do(old, Op{Kind: Extend, Key: "k", Token: "A", TTL: half}), Won)
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(time.Duration(phase) * 10 * time.Millisecond)
			do(old, acquire("other", "B", half)) // tells it of the seat
			for i := range 20 {
				if o := do(old, acquire("k", "B", half)); o.Verdict == Held {
					t.Errorf("phase %d: the old server's copy refuses another one, %d", phase, i)
				}
				if o := do(old, Op{Kind: Read, Key: "k"}); o.Verdict == Held {
					t.Errorf("phase %d: the old server's copy is read, %d", phase, i)
				}
			}
		})
	}
}

// TestM9SeatRecordedAtOneTime checks that a seat counts as recorded only if enough marks
// that record it are in view at one time (why 136). R1 has a moved to a2, writes the seat into
// b's mark, and loses sight of c, then of b. b restarts empty, and R2, which still uses the old a, begins
// it anew. R1 reaches c and writes the seat there: A has the old a and b, B would get a2 and c.
func TestM9SeatRecordedAtOneTime(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		b, third := c.masters[1], c.masters[2]
		c.want(do(c.q, acquire("before", "A", half)), Won)
		first := seatOfA(b.markOf(t)).Epoch
		c.stop(c.q)
		third.away(5 * time.Millisecond)
		list := c.cfg.Masters
		moved, ways := c.redlockdOver(c.moved("a", c.server("run-new")))
		for s := (mark.Seat{}); s.Epoch <= first; time.Sleep(time.Millisecond) {
			s, _ = moved.agreed.Of(mark.NameHash("a"))
		}
		ways["c"].leads(noRoute)
		third.away(0)
		time.Sleep(3 * time.Second)
		ways["b"].leads(noRoute)
		if inB, inC := seatOfA(b.markOf(t)), seatOfA(third.markOf(t)); inB.Epoch <= first || inC.Epoch > first {
			t.Fatalf("b records %+v, c %+v", inB, inC)
		}
		b.kill()
		b.startEmpty()
		old, oldWays := c.redlockdOver(list)
		time.Sleep(30 * time.Second)
		if s := old.Status(); s.Voting != 3 {
			t.Fatalf("%+v", s.Masters)
		}
		oldWays["c"].leads(noRoute) // the network splits
		ways["c"].leads(third.dial)
		time.Sleep(8 * time.Minute)
		c.want(do(old, acquire("k", "A", time.Minute)), Won)
		if o := do(moved, acquire("k", "B", time.Minute)); o.Verdict == Won {
			t.Fatal("a second holder")
		}
	})
}

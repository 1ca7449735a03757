package quorum

import (
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
)

// serves waits until the change is final and all masters of the list vote.
func (c *testCluster) serves(q *Quorum, masters int) {
	c.t.Helper()
	for range 240 {
		s := q.Status()
		if s.Phase == "final" && s.Voting == masters && len(s.Masters) == masters {
			c.want(do(q, acquire("after", "t", time.Second)), Won)
			c.want(do(q, release("after", "t")), Won)
			return
		}
		time.Sleep(time.Second)
	}
	c.t.Errorf("generation %d is %s and %d vote: %+v", q.Status().Generation, q.Status().Phase, q.Status().Voting, q.Status().Masters)
}

// TestM8ForgottenWhileAnnounced checks that a change is completed although a majority
// comes back empty while it is announced, and a redlockd that does not know of the
// change begins the mark of one master anew (M8).
func TestM8ForgottenWhileAnnounced(t *testing.T) {
	for _, n := range []int{3, 5} {
		inBubbleWith(t, n, short, func(c *testCluster) {
			leaves := c.masters[n-1]
			list := c.listed(leaves.Name, c.join("x"))
			c.change(c.q, list)
			c.reaches(c.q, 2, "announced")
			for _, f := range c.masters[1 : n-1] {
				f.kill()
			}
			c.loses(0, n)
			time.Sleep(time.Second) // the new marks of a and the joining master bear the change
			c.stop(c.q)
			for _, f := range c.masters[1 : n-1] {
				f.startEmpty()
			}
			leaves.kill()
			c.serves(c.redlockdOf(list), n)
		})
	}
}

// TestM8BegunByTwoLists checks that if all marks were lost and one instance begins with
// the new list, another one with the old list, then one of them yields and takes over
// the list that the other began (M8).
func TestM8BegunByTwoLists(t *testing.T) {
	for _, k := range []struct {
		masters int
		leaves  string
	}{{1, ""}, {2, "b"}, {5, "e"}} {
		inBubbleWith(t, k.masters, short, func(c *testCluster) {
			list := c.listed(k.leaves, c.join("x"))
			for i := range k.masters {
				c.loses(i)
			}
			other := c.redlockdOf(list)
			c.change(c.q, list)
			c.serves(other, len(list))
			c.serves(c.q, len(list))
		})
	}
}

// TestM8FinalIsNotTakenOver checks that a redlockd with the previous list does not take
// over a change that a single mark bears as final while another mark bears a later one
// (M8).
func TestM8FinalIsNotTakenOver(t *testing.T) {
	inBubbleWith(t, 2, short, func(c *testCluster) {
		list := c.listed("b", c.join("f"))
		ours, to := cluster.ListName(c.cfg.Masters), cluster.ListName(list)
		c.bears(0, mark.Generation{Number: 7, Phase: mark.Final, Masters: to, Before: ours})
		c.bears(1, mark.Generation{Number: 8, Phase: mark.Final, Masters: ours, Before: to})
		time.Sleep(3 * time.Second)
		c.change(c.q, list)
		time.Sleep(30 * time.Second)
		if s := c.q.Status(); s.Masters[1].Name != "b" {
			t.Errorf("generation %d with %s, want b", s.Generation, s.Masters[1].Name)
		}
	})
}

// TestM8MadeOutOfReach checks that a redlockd takes over a change that others have made
// on masters that it does not reach: of two masters its b is another server, so it sees
// one mark of the old list and one of the new (M8).
func TestM8MadeOutOfReach(t *testing.T) {
	inBubbleWith(t, 2, short, func(c *testCluster) {
		late := c.redlockdOf(c.moved("b", c.server("run-new")))
		list := c.listed("b", c.join("f"))
		c.change(c.q, list)
		c.reaches(c.q, 2, "final")
		c.change(late, list)
		c.serves(late, 2)
	})
}

// TestM8MovesBeforeTheChange checks that a master that stays moves to its new address
// at once, even while the change of the list waits for a majority, which may need that
// master (M8, M9).
func TestM8MovesBeforeTheChange(t *testing.T) {
	inBubbleWith(t, 3, short, func(c *testCluster) {
		list := c.moved("b", c.masters[1]) // the same server at another address
		f := c.join("f")
		list[2] = Master{Name: "f", Address: "f:1", Dial: f.dial}
		c.stop(c.q)
		before := c.throughCable(1)
		q := c.redlockd()
		time.Sleep(3 * time.Second)
		before.cut(true)
		c.masters[2].kill()
		time.Sleep(3 * time.Second)
		c.change(q, list)
		c.serves(q, 3)
	})
}

// TestM8RequiredComesWithTheChange checks that a master that only the new list requires
// is required once the change is made, though its address changes at once, also if the
// same list is asked for again meanwhile (M8, V11).
func TestM8RequiredComesWithTheChange(t *testing.T) {
	inBubbleWith(t, 3, short, func(c *testCluster) {
		list := c.moved("a", c.masters[0])
		list[0].Required = true
		c.masters[1].kill()
		c.masters[2].kill()
		for range 2 {
			c.change(c.q, list)
			time.Sleep(time.Second)
		}
		c.masters[1].mend()
		c.masters[2].mend()
		c.reaches(c.q, 2, "final")
		c.masters[0].kill()
		time.Sleep(time.Second)
		c.want(do(c.q, acquire("k", "t", time.Second)), Undecided)
	})
}

// TestM8BegunListIsTakenOver checks that a redlockd that took over a list that another
// one had begun anew uses it also for the marks that it makes later (M8).
func TestM8BegunListIsTakenOver(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		list := c.listed("e", c.join("f"))
		c.loses(0, 1, 2, 3, 4)
		other := c.redlockdOf(list)
		c.change(c.q, list)
		c.serves(other, 5)
		c.serves(c.q, 5)
		c.stop(other)
		c.loses(0)
		time.Sleep(time.Second)
		c.serves(c.q, 5)
	})
}

// bears writes a generation into a master's mark.
func (c *testCluster) bears(master int, g mark.Generation) {
	c.t.Helper()
	synctest.Wait() // nobody else writes the mark between the read and the write
	c.masters[master].changeMark(func(m *mark.Mark) { m.Generation = g })
}

// way is how a redlockd reaches a master. When it is changed, the connections over it
// end.
type way struct {
	mu   sync.Mutex
	dial func() (net.Conn, error)
	open []net.Conn
}

func (w *way) connect() (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	conn, err := w.dial()
	if err == nil {
		w.open = append(w.open, conn)
	}
	return conn, err
}

func (w *way) leads(by func() (net.Conn, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dial = by
	for _, conn := range w.open {
		_ = conn.Close()
	}
	w.open = nil
}

// redlockdOver starts another instance, whose ways to the masters can be changed.
func (c *testCluster) redlockdOver(list []Master) (*Quorum, map[string]*way) {
	list, ways := slices.Clone(list), map[string]*way{}
	for i := range list {
		w := &way{dial: list[i].Dial}
		ways[list[i].Name], list[i].Dial = w, w.connect
	}
	return c.redlockdOf(list), ways
}

// TestM8InterruptedByMastersInView checks that a generation that a mark bore before it
// was lost does not count for completing a change (M8). Here b and d have come back
// with marks of the old list since: A would get the lock on c d e, B on a b f.
func TestM8InterruptedByMastersInView(t *testing.T) {
	inBubbleWith(t, 5, func(cfg *Config) { cfg.MaxTTL, cfg.Handover = 30*time.Second, 5*time.Second }, func(c *testCluster) {
		list, first := c.listed("e", c.join("f")), cluster.ListName(c.cfg.Masters)
		c.change(c.q, list)
		c.reaches(c.q, 2, "final")
		c.serves(c.q, 5)
		c.stop(c.q)
		c.bears(1, mark.FirstGeneration(cluster.ListName(list)))
		c.bears(2, mark.Generation{Number: 2, Phase: mark.Announced, Masters: cluster.ListName(list), Before: first})
		c.bears(3, mark.FirstGeneration(cluster.ListName(list)))
		second, ways := c.redlockdOver(without(list, "c"))
		time.Sleep(3 * time.Second)
		ways["b"].leads(noRoute)
		ways["d"].leads(noRoute)
		c.bears(1, mark.FirstGeneration(first))
		c.bears(3, mark.FirstGeneration(first))
		c.bears(4, mark.FirstGeneration(first))
		old, oldWays := c.redlockdOver(without(c.cfg.Masters, "a"))
		time.Sleep(10 * time.Second)
		oldWays["b"].leads(noRoute)
		c.want(do(old, acquire("k", "A", 30*time.Second)), Won)
		ways["c"].leads(c.masters[2].dial)
		time.Sleep(3 * time.Second)
		ways["b"].leads(c.masters[1].dial)
		for range 20 {
			if o := do(second, acquire("k", "B", time.Second)); o.Verdict == Won {
				t.Fatal("two holders")
			}
			time.Sleep(time.Second)
		}
	})
}

package quorum

import (
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// serves waits until all masters of a list vote for a redlockd that has it for good.
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

// M8: a majority comes back empty while a change is announced, and the mark of one is
// begun anew by who knows nothing of the change: it is completed all the same.
func TestM8ForgottenWhileAnnounced(t *testing.T) {
	inBubbleWith(t, 3, short, func(c *testCluster) {
		list := c.listed("c", c.join("f"))
		c.change(c.q, list)
		c.reaches(c.q, 2, "announced")
		c.masters[1].kill()
		c.loses(0, 3)
		time.Sleep(time.Second) // their new marks bear the change
		c.stop(c.q)
		c.masters[1].startEmpty()
		c.masters[2].kill() // it is on the list before only
		c.serves(c.redlockdOf(list), 3)
	})
}

// M8: all marks were lost, and one redlockd has begun with the new list where another
// one still has the old one: one of them yields, and takes over what the other began.
func TestM8BegunByTwoLists(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		list := c.listed("e", c.join("f"))
		c.loses(0, 1, 2, 3, 4)
		other := c.redlockdOf(list)
		c.change(c.q, list)
		c.serves(other, 5)
		c.serves(c.q, 5)
	})
}

// M8, M9: a master that stays moves to its new address at once, also while the change of
// the list waits for a majority, which may need it.
func TestM8MovesBeforeTheChange(t *testing.T) {
	inBubbleWith(t, 3, short, func(c *testCluster) {
		list := c.moved("b", c.masters[1]) // the same server at another address
		f := c.join("f")
		list[2] = cluster.Master{Name: "f", Address: "f:1", Dial: f.dial}
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

// M8, V11: that a master shall be required waits for the change, though its address does
// not, and is not forgotten where the same list is asked for again meanwhile.
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

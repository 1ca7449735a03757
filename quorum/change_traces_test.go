package quorum

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// redlockdOf is one more redlockd, with a list of its own.
func (c *testCluster) redlockdOf(masters []cluster.Master) *Quorum {
	c.t.Helper()
	before := c.cfg
	defer func() { c.cfg = before }()
	c.cfg.Masters = masters
	return c.redlockd()
}

// without is a list where some masters cannot be reached.
func without(list []cluster.Master, names string) []cluster.Master {
	list = slices.Clone(list)
	for i := range list {
		if strings.Contains(names, list[i].Name) {
			list[i].Dial = noRoute
		}
	}
	return list
}

func noRoute() (net.Conn, error) { return nil, errors.New("no route to host") }

// A redlockd was started with the new list before the change, and its mark on
// the new master is of a first generation of that list. Once the change is
// announced, with that one cut off from the others, it must not vote: A on a b
// f, B on c d e.
func TestTraceJoiningMasterOfAnEarlyRedlockd(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		f := c.join("f")
		list := c.listed("e", f)
		early := c.redlockdOf(without(list, "cd"))
		old := c.redlockdOf(without(c.cfg.Masters, "ab"))
		time.Sleep(20 * time.Second) // the mark of f is real
		c.change(c.q, without(list, "f"))
		c.reaches(c.q, 2, "announced")
		for round := range 20 {
			key := string(rune('a' + round))
			a, b := do(early, acquire(key, "a", 4*time.Second)), do(old, acquire(key, "b", 4*time.Second))
			if a.Verdict == Won && b.Verdict == Won {
				t.Fatalf("round %d: two holders", round)
			}
			time.Sleep(250 * time.Millisecond)
		}
	})
}

// A master leaves while it is cut off, so that its mark is of the first
// generation still, and joins again: its vote must not count before the
// change is final, A on a b e, B on c d f.
func TestTraceMasterComesBackWithItsOldMark(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		first := c.cfg.Masters
		f := c.join("f")
		c.change(c.q, without(c.listed("e", f), "e"))
		c.masters[4].kill()
		c.reaches(c.q, 2, "final")
		time.Sleep(8 * time.Second) // f votes
		second := c.listed("e", f)
		other := c.redlockdOf(without(second, "ab"))
		fresh := c.redlockdOf(without(first, "cd"))
		time.Sleep(3 * time.Second)
		c.masters[4].mend()
		c.change(c.q, without(first, "e"))
		c.reaches(c.q, 3, "announced")
		for round := range 20 {
			key := string(rune('a' + round))
			a, b := do(fresh, acquire(key, "a", 4*time.Second)), do(other, acquire(key, "b", 4*time.Second))
			if a.Verdict == Won && b.Verdict == Won {
				t.Fatalf("round %d: two holders", round)
			}
			time.Sleep(250 * time.Millisecond)
		}
	})
}

// What the mark of a master that joins bears is no evidence of the greatest
// hold: A on a b e, where a then restarts empty beside c, d and f.
func TestTraceGreatestHoldOfAJoiningMaster(t *testing.T) {
	long := func(cfg *cluster.Config) { cfg.MaxTTL, cfg.Handover = time.Minute, 10*time.Minute }
	inBubbleWith(t, 5, long, func(c *testCluster) {
		list := c.listed("e", c.join("f"))
		old := c.redlockd()
		c.change(c.q, list)
		c.reaches(c.q, 2, "announced")
		time.Sleep(2 * time.Minute) // f has a real mark
		c.masters[2].kill()
		c.masters[3].kill()
		time.Sleep(500 * time.Millisecond)
		c.want(do(old, acquire("k", "a", time.Minute)), Won)
		taken := time.Now()
		c.stop(old) // which would raise the marks of c and d
		for _, i := range []int{0, 1, 4} {
			c.masters[i].kill()
		}
		c.masters[0].startEmpty()
		c.masters[2].mend()
		c.masters[3].mend()
		late := c.redlockdOf(list)
		for do(late, acquire("k", "b", time.Second)).Verdict != Won {
			time.Sleep(500 * time.Millisecond)
		}
		if held := time.Since(taken); held < time.Minute {
			t.Errorf("B was given the lock %v after A, whose TTL is 1m", held)
		}
	})
}

// Another list is asked for while the change to the one before is being
// announced: from there it is two steps, and majorities do not meet.
func TestTraceAnotherListIsAskedForMeanwhile(t *testing.T) {
	inBubbleWith(t, 4, short, func(c *testCluster) {
		more := c.listed("", c.join("e"))
		c.change(c.q, more)
		time.Sleep(10 * time.Millisecond)
		c.change(c.q, c.listed("d"))
		c.reaches(c.q, 2, "closed")
		other := c.redlockdOf(without(more, "ab"))
		for range 30 {
			c.masters[2].kill()
			time.Sleep(10 * time.Millisecond)
			a := do(c.q, acquire("k", "a", 4*time.Second)) // a b
			c.masters[2].mend()
			time.Sleep(2 * time.Second)
			b := do(other, acquire("k", "b", time.Second)) // c d e
			if a.Verdict == Won && b.Verdict == Won {
				t.Fatalf("two holders; generation %d is %s", c.q.Status().Generation, c.q.Status().Phase)
			}
			time.Sleep(2 * time.Second)
		}
	})
}

// The same masters in another order, and a database that is used for the first
// time after that: each of its masters goes by its own mark of database 0.
func TestTraceMastersInAnotherOrder(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		c.masters[0].kill()
		c.masters[1].kill()
		r := c.redlockd()
		time.Sleep(3 * time.Second)
		list := slices.Clone(c.cfg.Masters)
		slices.Reverse(list)
		c.change(r, list)
		r.Open(3, func() {})
		time.Sleep(3 * time.Second)
		c.want(do(r, Op{Kind: Acquire, DB: 3, Key: "k", Token: "t", TTL: time.Second}), Won)
	})
}

// A lock on a b e, and e leaves for good: until the change is final nobody can
// tell that it is not held.
func TestTraceMasterLeavesWithACopy(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		old := c.redlockd()
		time.Sleep(2 * time.Second)
		c.change(c.q, c.listed("e"))
		c.reaches(c.q, 2, "announced")
		c.masters[2].kill()
		c.masters[3].kill()
		time.Sleep(500 * time.Millisecond)
		c.want(do(old, acquire("k", "t", 5*time.Second)), Won)
		c.masters[2].mend()
		c.masters[3].mend()
		time.Sleep(2 * time.Second)
		c.want(do(old, Op{Kind: Read, Key: "k"}), Held)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Undecided)
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 5 * time.Second}), Undecided)
	})
}

// A redlockd stood still while the list changed and changed back, and sees it
// by the answers to its first votes: that of e, which has missed both changes
// and joins again, is none. The others hold a lock on c d f.
func TestTraceStoodStillWhileTheListChanged(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		c.want(do(c.q, acquire("before", "t", time.Second)), Won)
		c.masters[2].kill()
		c.masters[3].kill()
		time.Sleep(time.Second)
		first := cluster.ListName(c.cfg.Masters)
		back := mark.Generation{Number: 3, Phase: mark.Announced, Masters: first, Before: cluster.ListName(c.listed("e", c.join("f")))}
		for _, f := range c.masters[:2] {
			raw, err := f.Get(mark.Key)
			if err != nil {
				t.Fatal(err)
			}
			m, err := mark.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Set(mark.Key, m.With(func(c *mark.Mark) { c.Generation = back }).String()); err != nil {
				t.Fatal(err)
			}
			f.set(func() { f.delay = 5 * time.Millisecond }) // e answers first
		}
		c.want(do(c.q, acquire("k", "t", time.Second)), Undecided)
	})
}

// A list that was corrected before any master had a real mark is not kept from
// them by the marks of the wrong one.
func TestTraceListCorrectedBeforeTheFirstMark(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		for _, f := range c.masters {
			f.kill()
			f.startEmpty()
		}
		c.stop(c.q)
		wrong := c.redlockdOf(c.listed("e", c.join("f")))
		time.Sleep(3 * time.Second)
		c.stop(wrong)
		c.q = c.redlockd()
		c.ready()
	})
}

// A redlockd that was started with a list nobody has announced does not keep a
// master that restarts empty from coming back to the others.
func TestTraceMarkOfAnUnannouncedList(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		c.redlockdOf(c.listed("e", c.join("f")))
		time.Sleep(3 * time.Second)
		for _, f := range c.masters[:2] {
			f.kill()
			f.startEmpty()
			time.Sleep(time.Minute)
		}
		if s := c.q.Status(); s.Voting != 5 {
			t.Errorf("%d vote a minute later: %+v", s.Voting, s.Masters[:2])
		}
	})
}

// The list asked for last is the one that is gone for, also where it is that in
// force and another one is being announced.
func TestTraceListTakenBackMeanwhile(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		c.change(c.q, c.listed("e", c.join("f")))
		time.Sleep(10 * time.Millisecond)
		c.change(c.q, c.cfg.Masters)
		time.Sleep(time.Minute)
		if s := c.q.Status(); s.Masters[4].Name != "e" || s.Phase != "final" {
			t.Errorf("generation %d is %s, with %s; want the list as it was", s.Generation, s.Phase, s.Masters[4].Name)
		}
		c.want(do(c.q, acquire("k", "t", time.Second)), Won)
	})
}

// Of the masters that were told of the closing, a b c, the last restarts empty
// where only a redlockd with the old list reaches it: its new mark bears what
// it bore before. Else A on a b f, B on c d e.
func TestTraceClosingIsNotForgotten(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		old := c.redlockdOf(without(c.cfg.Masters, "ab"))
		mover, ways := c.redlockdOver(without(c.cfg.Masters, "de"))
		c.stop(c.q)
		time.Sleep(3 * time.Second)
		list := without(c.listed("e", c.join("f")), "de")
		list[slices.IndexFunc(list, func(m Master) bool { return m.Name == "c" })].Dial = ways["c"].connect
		c.change(mover, list)
		c.reaches(mover, 2, "closed")
		time.Sleep(2 * time.Second)
		c.masters[2].kill()
		ways["c"].leads(noRoute)
		c.masters[2].startEmpty()
		for range 60 {
			time.Sleep(time.Second)
			a, b := do(mover, acquire("k", "a", 800*time.Millisecond)), do(old, acquire("k", "b", 800*time.Millisecond))
			if a.Verdict == Won && b.Verdict == Won {
				t.Fatal("two holders")
			}
		}
		c.want(do(mover, acquire("another", "a", time.Second)), Won)
	})
}

// A redlockd that is restarted, not reloaded, onto a list two steps away finds a
// majority of new masters, which would be a second cluster beside the first.
func TestTraceRestartedOntoAListFarAway(t *testing.T) {
	inBubbleWith(t, 3, short, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "a", 4*time.Second)), Won)
		x, w := c.join("x"), c.join("w")
		list := []cluster.Master{c.cfg.Masters[0]}
		for _, f := range []*fakeMaster{x, w} {
			list = append(list, cluster.Master{Name: f.name, Address: f.name + ":1", Dial: f.dial})
		}
		second := c.redlockdOf(list)
		for range 30 {
			c.want(do(c.q, Op{Kind: AcquireOrExtend, Key: "k", Token: "a", TTL: 4 * time.Second}), Won)
			if o := do(second, acquire("k", "b", time.Second)); o.Verdict == Won {
				t.Fatal("two holders")
			}
			time.Sleep(time.Second)
		}
	})
}

// M8: what an attempt that began with a longer list tells of its masters.
func TestTraceNoQuorumOfALongerList(t *testing.T) {
	inBubble(t, 4, func(c *testCluster) {
		op := acquire("k", "t", time.Minute)
		a := newAttempt(&call{q: c.q, db: c.q.keyspace(0), op: &op}, &op, nil)
		c.change(c.q, c.cfg.Masters[:3])
		c.reaches(c.q, 2, "announced")
		a.box.ballots[0], a.box.ballots[2] = vote.Ballot{Vote: vote.Silent}, vote.Ballot{Vote: vote.Silent}
		if err := a.noQuorum(Undecided); !strings.Contains(err.Error(), "(a too late, b no answer yet, c too late, d no answer yet)") {
			t.Error(err)
		}
	})
}

// M8: while a smaller list is announced, what its smaller majority has is absent
// for nobody, also not for who counts by the larger one.
func TestM8NoToASmallerMajority(t *testing.T) {
	for _, n := range []int{4, 6} {
		inBubbleWith(t, n, short, func(c *testCluster) {
			larger := c.redlockd()
			time.Sleep(3 * time.Second)
			c.change(c.q, slices.Clone(c.cfg.Masters[:n-1]))
			c.reaches(c.q, 2, "announced")
			away := c.masters[vote.Majority(n-1):]
			for _, f := range away {
				f.kill()
			}
			time.Sleep(time.Second)
			c.want(do(c.q, acquire("k", "A", 5*time.Second)), Won)
			for _, f := range away {
				f.mend()
			}
			time.Sleep(2500 * time.Millisecond)
			c.reaches(c.q, 2, "announced")
			for _, op := range []Op{{Kind: Read, Key: "k"}, extend("k", "A", 5*time.Second), release("k", "A")} {
				if o := do(larger, op); o.Verdict == Absent || o.Verdict == Held && op.Kind != Read {
					t.Errorf("%d to %d masters, operation %d: %v", n, n-1, op.Kind, o.Verdict)
				}
			}
		})
	}
}

// What is said of a master that may vote is why its vote is missing: it was not
// waited for, it did not count, or it did not come in time.
func TestNoQuorumSaysWhyVotesAreMissing(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		op := acquire("k", "t", time.Minute)
		a := newAttempt(&call{q: c.q, db: c.q.keyspace(0), op: &op}, &op, nil)
		a.asking = true // no verdict yet
		a.Vote(0, vote.Ballot{Vote: vote.Silent}, c.q.now())
		a.Vote(1, vote.Ballot{Vote: vote.Silent, Unsure: true}, c.q.now())
		a.box.ballots[3] = vote.Ballot{Vote: vote.Silent}
		a.box.ballots[4] = vote.Ballot{Vote: vote.Unasked}
		want := "5 silent (a not counted, b too late, c no answer yet, d too late, e not asked)"
		if err := a.noQuorum(Undecided); !strings.Contains(err.Error(), want) {
			t.Errorf("%q, want %q", err, want)
		}
	})
}

package quorum

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/mark"
	"github.com/redlockd/redlockd/quorum/vote"
)

// redlockdOf starts one more redlockd, with a list of its own.
func (c *testCluster) redlockdOf(masters []cluster.Master) *Quorum {
	c.t.Helper()
	before := c.cfg
	defer func() { c.cfg = before }()
	c.cfg.Masters = masters
	return c.redlockd()
}

// without returns the list with some masters made unreachable.
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

// TestTraceJoiningMasterOfAnEarlyRedlockd checks that a master that joins does not vote
// although its mark is of the first generation of the new list: it was written by a
// redlockd that was started with that list too early. Once the change is announced,
// while f is cut off from the others, A would get the lock on a b f and B on c d e.
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

// TestTraceMasterComesBackWithItsOldMark checks that a master that left while it was
// cut off, so that its mark still is of the first generation, and joins again does not
// vote before that change is final. Otherwise A gets the lock on a b e, B on c d f.
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

// TestTraceGreatestHoldOfAJoiningMaster checks that the mark of a master that joins
// does not count as evidence of the greatest hold: A has the lock on a b e, and a then
// restarts empty beside c, d and f.
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
		c.stop(old) // it would raise the marks of c and d
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

// TestTraceAnotherListIsAskedForMeanwhile checks that another list that is asked for
// while a change is being announced is not made: from the announced list it would be
// two steps, and majorities would not meet.
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

// TestTraceMastersInAnotherOrder checks that after the list was reordered each master's
// link to a newly opened database uses that master's own mark of database 0.
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

// TestTraceMasterLeavesWithACopy checks that nobody reads "absent" for a lock on a b e
// while e is being removed, until the change is final.
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

// TestTraceStoodStillWhileTheListChanged checks that a redlockd that stood still while
// the list changed and changed back learns of it from the answers to its first votes:
// e, which missed both changes and joins again, has no vote. The other instances hold a
// lock on c d f.
func TestTraceStoodStillWhileTheListChanged(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		c.want(do(c.q, acquire("before", "t", time.Second)), Won)
		c.masters[2].kill()
		c.masters[3].kill()
		time.Sleep(time.Second)
		first := cluster.ListName(c.cfg.Masters)
		back := mark.Generation{Number: 3, Phase: mark.Announced, Masters: first, Before: cluster.ListName(c.listed("e", c.join("f")))}
		for _, f := range c.masters[:2] {
			f.changeMark(func(m *mark.Mark) { m.Generation = back })
			f.set(func() { f.Delay = 5 * time.Millisecond }) // e answers first
		}
		c.want(do(c.q, acquire("k", "t", time.Second)), Undecided)
	})
}

// TestTraceListCorrectedBeforeTheFirstMark checks that a wrong list that was corrected
// before any master had a real mark does not keep the masters from voting for the
// corrected one.
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

// TestTraceMarkOfAnUnannouncedList checks that a redlockd that was started with an
// unannounced list does not keep a master that restarted empty from voting for the
// others again.
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

// TestTraceListTakenBackMeanwhile checks that the list asked for last is the target,
// also if it is the one in force and another one is being announced.
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

// TestTraceClosingIsNotForgotten checks that of the masters a b c, whose marks bear the
// closing, the last one gets the closing into its new mark when it restarts empty where
// only a redlockd with the old list reaches it. Otherwise A gets the lock on a b f, B
// on c d e.
func TestTraceClosingIsNotForgotten(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		old := c.redlockdOf(without(c.cfg.Masters, "ab"))
		mover, ways := c.redlockdOver(without(c.cfg.Masters, "de"))
		c.stop(c.q)
		time.Sleep(3 * time.Second)
		list := without(c.listed("e", c.join("f")), "de")
		for _, name := range []string{"c", "d"} {
			list[slices.IndexFunc(list, func(m Master) bool { return m.Name == name })].Dial = ways[name].connect
		}
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
		ways["c"].leads(c.masters[2].dial)
		ways["d"].leads(c.masters[3].dial)
		c.reaches(mover, 2, "final")
		c.want(do(mover, acquire("another", "a", time.Second)), Won)
	})
}

// TestTraceRestartedOntoAListFarAway checks that a redlockd that is restarted, not
// reloaded, with a list two steps away takes no lock on its majority of new masters:
// these would be a second cluster beside the first.
func TestTraceRestartedOntoAListFarAway(t *testing.T) {
	inBubbleWith(t, 3, short, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "a", 4*time.Second)), Won)
		x, w := c.join("x"), c.join("w")
		list := []cluster.Master{c.cfg.Masters[0]}
		for _, f := range []*fakeMaster{x, w} {
			list = append(list, cluster.Master{Name: f.Name, Address: f.Name + ":1", Dial: f.dial})
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

// TestTraceNoQuorumOfALongerList checks that the NOQUORUM of an attempt that began with
// a longer list names the masters of that list (M8).
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

// TestM8NoToASmallerMajority checks that while a smaller list is announced, no instance
// answers that a lock held by its smaller majority is absent, not even one that counts
// by the larger list (M8).
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

// TestM8NotOverToASmallerMajority checks that a redlockd that still counts by the larger
// list does not call its own earlier grant over while the smaller majority of the
// announced list may have prolonged it (M8, V15).
func TestM8NotOverToASmallerMajority(t *testing.T) {
	inBubbleWith(t, 4, short, func(c *testCluster) {
		larger := c.redlockd()
		time.Sleep(3 * time.Second)
		c.change(c.q, slices.Clone(c.cfg.Masters[:3]))
		c.reaches(c.q, 2, "announced")
		c.tell(do(larger, acquire("k", "A", 2*time.Second)))
		granted := time.Now()
		synctest.Wait()
		for _, f := range c.masters[2:] {
			f.kill()
		}
		time.Sleep(500 * time.Millisecond)
		c.want(do(c.q, extend("k", "A", 5*time.Second)), Won)
		for _, f := range c.masters[2:] {
			f.mend()
		}
		time.Sleep(time.Until(granted.Add(2*time.Second + c.cfg.Timeout + 30*time.Millisecond)))
		c.reaches(c.q, 2, "announced")
		if n := c.copies("k", "A"); n != 4 {
			t.Fatalf("%d copies", n)
		}
		c.want(do(larger, Op{Kind: Read, Key: "k"}), Undecided)
	})
}

// TestNoQuorumSaysThatALookIsTooOld checks that an acquire right after a pause of redlockd is
// told why no master could be asked: what is known of their clocks is too old (V6).
func TestNoQuorumSaysThatALookIsTooOld(t *testing.T) {
	inBubble(t, 3, func(c *testCluster) {
		s := c.stoppable()
		c.want(do(c.q, acquire("another", "t", time.Second)), Won) // the marks record its hold
		c.pass(3*time.Second, s)
		o := c.want(do(c.q, acquire("k", "t", time.Second)), Undecided)
		if want := "3 silent (a not looked at for 2s, b not looked at for 2s, c not looked at for 2s)"; !strings.Contains(o.Err.Error(), want) {
			t.Errorf("%q, want %q", o.Err, want)
		}
	})
}

// TestNoQuorumSaysWhyVotesAreMissing checks that NOQUORUM states why the vote of a
// master that may vote is missing: it was not waited for, did not count, or did not
// come in time.
func TestNoQuorumSaysWhyVotesAreMissing(t *testing.T) {
	inBubble(t, 5, func(c *testCluster) {
		op := acquire("k", "t", time.Minute)
		a := newAttempt(&call{q: c.q, db: c.q.keyspace(0), op: &op}, &op, nil)
		a.asking = true // no verdict yet
		a.Vote(0, vote.Ballot{Vote: vote.Silent}, c.q.now())
		a.Vote(1, vote.Ballot{Vote: vote.Silent, MayAct: true}, c.q.now())
		a.box.ballots[3] = vote.Ballot{Vote: vote.Silent}
		a.box.ballots[4] = vote.Ballot{Vote: vote.Unasked}
		want := "5 silent (a not counted, b too late, c no answer yet, d too late, e not asked)"
		if err := a.noQuorum(Undecided); !strings.Contains(err.Error(), want) {
			t.Errorf("%q, want %q", err, want)
		}
	})
}

package quorum

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
)

// join adds an empty master that is on no list yet.
func (c *testCluster) join(name string) *fakeMaster {
	f := newFakeMaster(c.t, name)
	c.masters = append(c.masters, f)
	return f
}

// listed returns the configured list without the master out, and with others added; out
// may be "".
func (c *testCluster) listed(out string, in ...*fakeMaster) []cluster.Master {
	list := slices.DeleteFunc(slices.Clone(c.cfg.Masters), func(m cluster.Master) bool { return m.Name == out })
	for _, f := range in {
		list = append(list, cluster.Master{Name: f.Name, Address: f.Name + ":1", Dial: f.dial})
	}
	return list
}

func (c *testCluster) change(q *Quorum, masters []cluster.Master) {
	c.t.Helper()
	if err := q.ChangeMasters(masters); err != nil {
		c.t.Fatalf("change of masters: %v", err)
	}
}

// reaches waits until a change has reached a phase.
func (c *testCluster) reaches(q *Quorum, number int, phase string) {
	c.t.Helper()
	for range 1000 {
		if s := q.Status(); s.Generation == number && s.Phase == phase {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	s := q.Status()
	c.t.Fatalf("generation %d is %s, want %d %s: %+v", s.Generation, s.Phase, number, phase, s.Masters)
}

// short makes holds and the handover short.
func short(cfg *cluster.Config) { cfg.MaxTTL, cfg.Handover = 5*time.Second, 10*time.Second }

func TestM8ReplacedUnderALock(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 4*time.Second)), Won)
		list := c.listed("e", c.join("f"))
		c.change(c.q, list)
		began, taken := time.Now(), 0
		for c.q.Status().Generation != 2 || c.q.Status().Phase != "final" {
			c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 4 * time.Second}), Won)
			o := c.want(do(c.q, acquire(fmt.Sprint("other", taken), "t", time.Second)), Won)
			if taken++; !confirmed(o) {
				t.Fatal("not in time")
			}
			if f := c.masters[5]; f.holds(fmt.Sprint("other", taken-1)) != "" {
				t.Fatal("a master that joins was asked for a vote")
			}
			if time.Sleep(time.Second); time.Since(began) > time.Minute {
				t.Fatalf("not final after a minute: %+v", c.q.Status())
			}
		}
		if lasted := time.Since(began); lasted < c.cfg.Handover+c.cfg.Hold(4*time.Second, c.cfg.Settings().Padding()) {
			t.Errorf("final after %v, before the handover and the greatest hold", lasted)
		}
		time.Sleep(3 * time.Second)
		s := c.q.Status()
		if s.Voting != 5 || s.Masters[4].Name != "f" {
			t.Errorf("%d of %+v vote, want all with f", s.Voting, s.Masters)
		}
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 4 * time.Second}), Won)
		time.Sleep(time.Second)
		if c.masters[5].holds("k") != "t" {
			t.Error("the new master was not given the extended lock")
		}
		c.want(do(c.q, acquire("new", "t", time.Second)), Won)
		if c.masters[4].holds("new") != "" {
			t.Error("the old master is still asked")
		}
	})
}

// TestM8MajoritiesOfTwoListsMeet checks that a redlockd with the old list and one with
// the new list never both take a lock, here A on a b e and B on c d f (why 108).
func TestM8MajoritiesOfTwoListsMeet(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		f := c.join("f")
		c.change(c.q, c.listed("e", f))
		c.reaches(c.q, 2, "announced")
		time.Sleep(7 * time.Second) // by now f would vote if it were not joining
		for round := range 20 {
			key := fmt.Sprint("k", round)
			c.masters[2].kill()
			c.masters[3].kill()
			time.Sleep(time.Second)
			a := do(other, acquire(key, "a", 4*time.Second)) // a b e
			c.masters[2].mend()
			c.masters[3].mend()
			c.masters[0].kill()
			c.masters[1].kill()
			time.Sleep(2 * time.Second)
			b := do(c.q, acquire(key, "b", time.Second)) // c d f
			c.masters[0].mend()
			c.masters[1].mend()
			if a.Verdict == Won && b.Verdict == Won {
				t.Fatalf("round %d, %s: two holders", round, c.q.Status().Phase)
			}
			time.Sleep(2 * time.Second)
		}
		c.reaches(c.q, 2, "final")
	})
}

func TestM8LeftBehind(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		old := c.redlockd()
		time.Sleep(3 * time.Second)
		list := c.listed("e", c.join("f"))
		c.change(c.q, list)
		c.reaches(c.q, 2, "announced")
		c.want(do(old, acquire("k1", "t", time.Second)), Won)
		c.reaches(c.q, 2, "closed")
		time.Sleep(2 * time.Second)
		o := c.want(do(old, acquire("k2", "t", time.Second)), Undecided)
		if text := o.Err.Error(); !strings.Contains(text, "another list of masters, generation 2") {
			t.Errorf("refused by %q, want the reason", text)
		}
		c.want(do(c.q, acquire("k3", "t", time.Second)), Won)
		// Nor in a database that was not used before.
		old.Open(5, func() {})
		time.Sleep(3 * time.Second)
		c.want(do(old, Op{Kind: Acquire, DB: 5, Key: "k", Token: "t", TTL: time.Second}), Undecided)
		c.change(old, list)
		time.Sleep(3 * time.Second)
		c.want(do(old, acquire("k4", "t", time.Second)), Won)
		c.want(do(old, Op{Kind: Acquire, DB: 5, Key: "k", Token: "t", TTL: time.Second}), Won)
		c.reaches(old, 2, "final")
	})
}

// TestM8StartedLeftBehind checks that a redlockd that was started with the old list
// after the closing, and knows no mark that counts, joins after a reload.
func TestM8StartedLeftBehind(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		list := c.listed("e", c.join("f"))
		c.change(c.q, list)
		c.reaches(c.q, 2, "final")
		late := c.redlockd()
		time.Sleep(3 * time.Second)
		c.want(do(late, acquire("k", "t", time.Second)), Undecided)
		c.change(late, list)
		time.Sleep(3 * time.Second)
		c.want(do(late, acquire("k", "t", time.Second)), Won)
	})
}

// TestM8LockOfTheOldListOutlivesIt checks that a lock that a majority of the old list
// granted just before the closing is held alone until its TTL is over: here on a b e,
// while c d f could grant another one.
func TestM8LockOfTheOldListOutlivesIt(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		old := c.redlockd()
		time.Sleep(3 * time.Second)
		c.change(c.q, c.listed("e", c.join("f")))
		c.reaches(c.q, 2, "announced")
		c.masters[2].kill()
		c.masters[3].kill()
		time.Sleep(7 * time.Second) // f is out of its quarantine
		var last time.Time          // when A was last granted the lock
		for c.q.Status().Phase == "announced" {
			asked := time.Now()
			if o := do(old, Op{Kind: AcquireOrExtend, Key: "k", Token: "a", TTL: 5 * time.Second}); o.Verdict == Won {
				last = asked
			}
			time.Sleep(20 * time.Millisecond)
		}
		if time.Since(last) > time.Second {
			t.Fatal("the old list gave no lock before the closing")
		}
		c.masters[2].mend()
		c.masters[3].mend()
		for do(c.q, acquire("k", "b", time.Second)).Verdict != Won {
			time.Sleep(50 * time.Millisecond)
		}
		if held := time.Since(last); held < 5*time.Second {
			t.Errorf("B was given the lock %v after A, whose TTL is 5s", held)
		}
	})
}

func TestM8OneChangeAtATime(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		f, g := c.join("f"), c.join("g")
		if c.q.MayChangeMasters(c.listed("e", f, g)) == nil || c.q.MayChangeMasters(c.listed("e", f)) != nil {
			t.Error("what may be changed is not what is changed")
		}
		if err := c.q.ChangeMasters(c.listed("e", f, g)); err == nil {
			t.Error("two new masters at once are taken")
		}
		c.change(c.q, c.listed("e", f))
		c.change(other, c.listed("d", g))
		time.Sleep(5 * time.Second)
		one, two := c.q.Status(), other.Status()
		if one.Generation+two.Generation != 3 {
			t.Fatalf("generations %d and %d, want one of the two changes made", one.Generation, two.Generation)
		}
		first, second := c.q, other
		if two.Generation == 2 {
			first, second = other, c.q
		}
		c.reaches(first, 2, "final")
		c.want(do(first, acquire("k", "t", time.Second)), Won)
		if s := second.Status(); s.Voting != 0 {
			t.Errorf("%d masters vote for the list that was not taken", s.Voting)
		}
	})
}

func TestM8AnotherRedlockdCarriesOn(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		list := c.listed("e", c.join("f"))
		early := c.cfg
		early.Masters = list
		c.cfg = early
		fresh := c.redlockd()
		time.Sleep(5 * time.Second)
		o := c.want(do(fresh, acquire("k", "t", time.Second)), Undecided)
		if text := o.Err.Error(); !strings.Contains(text, "another list of masters, generation 1") {
			t.Errorf("refused by %q, want the reason", text)
		}
		c.change(c.q, list)
		c.reaches(c.q, 2, "announced")
		c.stop(c.q)
		time.Sleep(3 * time.Second)
		c.want(do(fresh, acquire("k", "t", time.Second)), Won)
		c.reaches(fresh, 2, "final")
		time.Sleep(8 * time.Second)
		if s := fresh.Status(); s.Voting != 5 {
			t.Errorf("%d vote, want 5: %+v", s.Voting, s.Masters)
		}
	})
}

func TestM8AllReplacedOneByOne(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		opened := make(chan struct{})
		c.q.Open(3, func() { close(opened) })
		<-opened
		c.want(do(c.q, Op{Kind: Acquire, DB: 3, Key: "k", Token: "t", TTL: 5 * time.Second}), Won)
		held := func() {
			c.t.Helper()
			c.want(do(c.q, Op{Kind: Extend, DB: 3, Key: "k", Token: "t", TTL: 5 * time.Second}), Won)
		}
		for i := range 5 {
			c.cfg.Masters = c.listed(string(rune('a'+i)), c.join(string(rune('v'+i))))
			c.change(c.q, c.cfg.Masters)
			for range 5 {
				held()
				time.Sleep(time.Second)
			}
			c.change(other, c.cfg.Masters)
			for c.q.Status().Phase != "final" || c.q.Status().Voting != 5 || other.Status().Voting != 5 {
				held()
				time.Sleep(time.Second)
			}
			// The heal of one extend puts the lock on the new master, too.
			held()
			c.masters[i].kill()
			held()
		}
		other.Open(3, func() {})
		time.Sleep(2 * time.Second)
		c.want(do(other, Op{Kind: Release, DB: 3, Key: "k", Token: "t"}), Won)
	})
}

// TestM8JoiningMasterHasNoVote checks that a master that joins gets extended locks by
// heals, but no vote with them.
func TestM8JoiningMasterHasNoVote(t *testing.T) {
	inBubbleWith(t, 5, short, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 4*time.Second)), Won)
		c.change(c.q, c.listed("e", c.join("f")))
		c.reaches(c.q, 2, "announced")
		for c.masters[5].holds("k") == "" {
			c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 4 * time.Second}), Won)
			time.Sleep(100 * time.Millisecond)
		}
		c.masters[2].kill()
		c.masters[3].kill()
		time.Sleep(100 * time.Millisecond)
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 4 * time.Second}), Undecided)
	})
}

// TestM8DropRequired checks that dropping required, the last step of moving in, is a
// change of the list too.
func TestM8DropRequired(t *testing.T) {
	inBubbleWith(t, 5, func(cfg *cluster.Config) { short(cfg); cfg.Masters[0].Required = true }, func(c *testCluster) {
		list := slices.Clone(c.cfg.Masters)
		list[0].Required = false
		c.change(c.q, list)
		c.reaches(c.q, 2, "final")
		c.masters[0].kill()
		time.Sleep(time.Second)
		c.want(do(c.q, acquire("k", "t", time.Second)), Won)
	})
}

// TestM8TooFewShared checks that nothing is granted until the change is final if only
// one of two masters is on both lists.
func TestM8TooFewShared(t *testing.T) {
	inBubbleWith(t, 2, short, func(c *testCluster) {
		c.change(c.q, c.listed("b", c.join("c")))
		c.reaches(c.q, 2, "announced")
		c.want(do(c.q, acquire("k", "t", time.Second)), Undecided)
		c.reaches(c.q, 2, "final")
		time.Sleep(8 * time.Second)
		c.want(do(c.q, acquire("k", "t", time.Second)), Won)
	})
}

func TestM8SameNameAnotherAddress(t *testing.T) {
	inBubbleWith(t, 3, short, func(c *testCluster) {
		c.want(do(c.q, acquire("k", "t", 5*time.Second)), Won)
		f := c.join("f")
		list := slices.Clone(c.cfg.Masters)
		list[2].Address, list[2].Dial = "f:1", f.dial
		c.change(c.q, list)
		time.Sleep(2 * time.Second)
		if s := c.q.Status().Masters[2]; s.Address != "f:1" || s.State == Voting {
			t.Errorf("%+v, want the new address, and that it waits", s)
		}
		time.Sleep(18 * time.Second)
		if s := c.q.Status(); s.Voting != 3 || s.Generation != 1 {
			t.Errorf("%d vote in generation %d, want all in the first", s.Voting, s.Generation)
		}
		c.masters[2].kill()
		c.want(do(c.q, acquire("k2", "t", 5*time.Second)), Won)
		time.Sleep(time.Second) // the third master answers after the verdict
		if n := c.copies("k2", "t"); n != 3 {
			t.Errorf("%d copies, want 3", n)
		}
	})
}

package quorum

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redlockd/redlockd/quorum/cluster"
	"github.com/redlockd/redlockd/quorum/vote"
)

// movingIn runs a test where the old Redis is the required master "a", which old
// clients use directly (V11).
func movingIn(t *testing.T, test func(c *testCluster, old *fakeMaster)) {
	t.Helper()
	inBubbleWith(t, 5, func(cfg *cluster.Config) { cfg.Masters[0].Required = true },
		func(c *testCluster) { test(c, c.masters[0]) })
}

// oldTake is an old client's SET NX PX on the old Redis.
func (f *fakeMaster) oldTake(key, token string, ttl time.Duration) bool {
	f.t.Helper()
	conn, err := f.dial()
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close()
	words := []string{"SET", key, token, "NX", "PX", strconv.FormatInt(ttl.Milliseconds(), 10)}
	command := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		command += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(conn, command); err != nil {
		f.t.Fatal(err)
	}
	reply, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		f.t.Fatal(err)
	}
	return reply == "+OK\r\n"
}

func TestV11OldClientsLockIsHeld(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		old.oldTake("k", "old", 30*time.Second)
		began := time.Now()
		o := c.want(do(c.q, acquire("k", "new", 10*time.Second)), Held)
		if o.State.Token != "old" {
			t.Errorf("held by %q, want the old client's token", o.State.Token)
		}
		if took := time.Since(began); took >= c.cfg.Timeout {
			t.Errorf("answered after %v, want at once", took)
		}
		time.Sleep(time.Second)
		if n := c.copies("k", "new"); n != 0 {
			t.Errorf("%d copies of the lost attempt are left", n)
		}
	})
}

func TestV11ItsWordForReadsAndReleases(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		old.oldTake("k", "old", 30*time.Second)
		o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		if o.State.Token != "old" || o.State.TTL > 30*time.Second {
			t.Errorf("read %+v, want the old client's token and at most its TTL", o.State)
		}
		c.want(do(c.q, release("k", "another")), Absent)
		c.want(do(c.q, release("k", "old")), Won)
		if old.Exists("k") {
			t.Error("the old lock was released, and is there")
		}
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Absent)
	})
}

// TestV11ReadToTheEndOfTheOldClientsLock checks that an old client's lock can be read
// to its end: it has no padding (V3) that a read would have to take off.
func TestV11ReadToTheEndOfTheOldClientsLock(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		ttl := c.cfg.Settings().Padding() + 50*time.Millisecond
		old.oldTake("k", "old", ttl)
		time.Sleep(60 * time.Millisecond)
		o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		if o.State.Token != "old" || o.State.TTL > ttl-60*time.Millisecond {
			t.Errorf("read %+v, want the old client's token and what is left", o.State)
		}
	})
}

// TestV11ReadOfALostAttempt checks that copies of an attempt that the old Redis has
// refused are no lock, although they are on a quorum until they are rolled back.
func TestV11ReadOfALostAttempt(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		old.oldTake("k", "old", 30*time.Second)
		for _, m := range c.masters[1:] {
			m.oldTake("k", "lost", 30*time.Second)
		}
		c.slow(time.Millisecond, 0)
		if o := c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held); o.State.Token != "old" {
			t.Errorf("read %q, want the old client's token", o.State.Token)
		}
	})
}

// TestV11WhatWasReleasedByItsWordIsNotHeld checks that a lock that was released by the
// required master's word is not answered as held, although it is on a quorum until the
// other masters can be reached.
func TestV11WhatWasReleasedByItsWordIsNotHeld(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		for _, f := range c.masters[1:] {
			f.oldTake("k", "t", 30*time.Second)
		}
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Absent)
		c.want(do(c.q, release("k", "u")), Absent)
		for range 5 {
			c.want(do(c.q, acquire("k", "u", time.Second)), Split)
		}
	})
}

// TestV11WhatAQuorumHasWithoutItsWordIsNotKnown checks that nobody is answered whether
// a quorum's token is a lock while the required master is silent: the lock may have
// been released by its word, and the redlockd that had to repeat the release may have
// ended.
func TestV11WhatAQuorumHasWithoutItsWordIsNotKnown(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		c.want(do(c.q, acquire("k", "t", 30*time.Second)), Won)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
		old.kill()
		time.Sleep(time.Second)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Undecided)
		old.mend()
		time.Sleep(3 * time.Second)
		c.want(do(c.q, Op{Kind: Read, Key: "k"}), Held)
	})
}

// TestV11QuorumBehindItsBackIsNotInTheWay checks that a quorum's token does not refuse
// an acquire after a split (V4) if the required master has no key or another token.
func TestV11QuorumBehindItsBackIsNotInTheWay(t *testing.T) {
	has := vote.Ballot{Vote: vote.Found, Token: "t"}
	for _, r := range []struct {
		name string
		its  vote.Ballot
		held bool
	}{
		{"it has nothing", vote.Ballot{Vote: vote.Absent}, false},
		{"it has another token", vote.Ballot{Vote: vote.Found, Token: "lost"}, false},
		{"it has that token", has, true},
	} {
		a := &attempt{box: ballotBox{needs: vote.Needs{Quorum: 2, Required: 0}, ballots: []vote.Ballot{r.its, has, has}}}
		if got := a.box.heldWithSilent("u"); got != r.held {
			t.Errorf("%s: held %v, want %v", r.name, got, r.held)
		}
	}
}

// TestV11ReadOfItsEarlierDisk checks that the required master's word does not count in
// quarantine, since its disk may be earlier (M4).
func TestV11ReadOfItsEarlierDisk(t *testing.T) {
	ballots := []vote.Ballot{{Vote: vote.Found, Token: "t", Doubtful: true}, {Vote: vote.Absent}, {Vote: vote.Absent}}
	if v, _ := vote.VerdictOf(vote.Question{Kind: Read}, ballots, vote.Needs{Quorum: 2, Required: 0}); v != Undecided {
		t.Errorf("read %v, want undecided", v)
	}
}

// TestV11TransactionReleasesTheOldClientsLock checks that EXEC of a DEL is a release
// too.
func TestV11TransactionReleasesTheOldClientsLock(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		old.oldTake("k", "old", 30*time.Second)
		deletes := func(s []State) []Change {
			if !s[0].Found {
				return nil
			}
			return []Change{{Key: "k", Delete: true}}
		}
		o := do(c.q, Op{Kind: DecideAll, Keys: []string{"k", "other"}, DecideAll: deletes})
		c.want(o, Won)
		if old.Exists("k") {
			t.Error("the old lock was deleted, and is there")
		}
	})
}

func TestV11NothingIsTakenOrExtendedWithoutIt(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		c.want(do(c.q, acquire("k", "t", 60*time.Second)), Won)
		old.kill()
		time.Sleep(2 * time.Second) // a look, each second, finds it down
		for name, op := range map[string]Op{
			"acquire":           acquire("new", "t", time.Second),
			"acquire or extend": {Kind: AcquireOrExtend, Key: "k", Token: "t", TTL: 60 * time.Second},
			"extend":            {Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second},
			"store":             {Kind: Store, Key: "s", Token: "t", TTL: time.Second},
		} {
			began := time.Now()
			o := c.want(do(c.q, op), Undecided)
			if text := o.Err.Error(); !strings.Contains(text, "required master did not agree: a down") {
				t.Errorf("%s is refused by %q, want the required master named", name, text)
			}
			if took := time.Since(began); took >= c.cfg.Timeout {
				t.Errorf("%s was refused after %v, want at once", name, took)
			}
		}
		if c.q.Status().Ready {
			t.Error("ready without the required master")
		}
		// Started empty, it may have forgotten locks.
		old.startEmpty()
		time.Sleep(5 * time.Second)
		o := c.want(do(c.q, acquire("new", "t", time.Second)), Undecided)
		if text := o.Err.Error(); !strings.Contains(text, "a quarantine waiting ") {
			t.Errorf("refused by %q, want the quarantine named", text)
		}
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second}), Undecided)
		c.want(do(c.q, release("k", "t")), Won)
	})
}

// TestV11ExtendBehindItsBack checks that a lock is not extended while the required
// master cannot be asked: it would end there, and an old client would take it (why 57).
func TestV11ExtendBehindItsBack(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		c.want(do(c.q, acquire("k", "t", 5*time.Second)), Won)
		old.kill()
		told := do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second})
		old.mend()
		time.Sleep(7 * time.Second)
		if taken := old.oldTake("k", "old", time.Second); taken && told.Verdict == Won {
			t.Error("an old client took a lock whose extend was won")
		}
		// If the required master refuses, copies that others prolonged are no lock.
		c.want(do(c.q, Op{Kind: Extend, Key: "k", Token: "t", TTL: 60 * time.Second}), Held)
	})
}

func TestV11OneOfManyWins(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		won, lost := 0, 0
		for round := range 200 {
			key := fmt.Sprint("k", round)
			var mu sync.Mutex
			var all sync.WaitGroup
			winners := 0
			for i := range 8 {
				q := []*Quorum{c.q, other}[i%2]
				all.Go(func() {
					o := do(q, acquire(key, fmt.Sprint("t", i), time.Second))
					mu.Lock()
					defer mu.Unlock()
					if o.Verdict == Won && confirmed(o) {
						winners++
					}
				})
			}
			if round%4 == 0 && old.oldTake(key, "old", time.Second) {
				winners++
			}
			all.Wait()
			switch {
			case winners > 1:
				t.Fatalf("round %d: %d hold the lock", round, winners)
			case winners == 1:
				won++
			default:
				lost++
			}
		}
		if lost > 2 {
			t.Errorf("%d rounds had a winner and %d had none", won, lost)
		}
	})
}

func TestV11OneAtMost(t *testing.T) {
	cfg := cluster.DefaultConfig()
	cfg.Masters = []cluster.Master{{Name: "a", Address: "a:1", Required: true}, {Name: "b", Address: "b:1", Required: true},
		{Name: "c", Address: "c:1"}}
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "expected one at most") {
		t.Errorf("two required masters: %v", err)
	}
}

// TestS4OldClientsLockIsWatched checks that EXEC acts on an old client's lock that nobody has
// touched since WATCH, though only the required master has it (S4, V11).
func TestS4OldClientsLockIsWatched(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		old.oldTake("k", "old", 30*time.Second)
		var w Watch
		defer w.Close()
		c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &w}), Held)
		if o := c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &w}), Held); !w.Fits(o.State) || w.Changed() {
			t.Errorf("fits %v, changed %v", w.Fits(o.State), w.Changed())
		}
		op := release("k", "old")
		op.Unless = []*Watch{&w}
		c.want(do(c.q, op), Won)
	})
}

// TestS4OldClientTakesItsTokenAgain checks that EXEC does nothing to a lock that an old client has
// taken directly with the token of the one that was watched, which was released since (S4, V11).
func TestS4OldClientTakesItsTokenAgain(t *testing.T) {
	movingIn(t, func(c *testCluster, old *fakeMaster) {
		other := c.redlockd()
		time.Sleep(3 * time.Second)
		for name, does := range map[string]Op{
			"DEL":     {Kind: Release, Key: "k", Token: "t"},
			"PEXPIRE": {Kind: Extend, Key: "k", Token: "t", TTL: 40 * time.Second},
			"SET": {Kind: DecideAll, Keys: []string{"k"}, DecideAll: func([]State) []Change {
				return []Change{{Key: "k", Token: "u", TTL: 300 * time.Millisecond}}
			}},
		} {
			var w Watch
			c.tell(do(other, acquire("k", "t", 20*time.Second)))
			c.want(do(c.q, Op{Kind: Read, Key: "k", Arm: &w}), Held)
			c.want(do(other, release("k", "t")), Won)
			time.Sleep(time.Second)
			old.oldTake("k", "t", 30*time.Second)
			ends := old.Millis() + 30_000
			does.Unless = []*Watch{&w}
			if o := do(c.q, does); o.Verdict == Won {
				t.Errorf("%s: %v", name, o.Verdict)
			}
			old.Lock()
			e, _ := old.Get(0, "k")
			old.Unlock()
			if e.Value != "t" || e.Expiry > ends {
				t.Errorf("%s: the required master has %q until %d, want \"t\" until %d", name, e.Value, e.Expiry, ends)
			}
			w.Close()
			for _, f := range c.masters {
				f.Del("k")
			}
		}
	})
}

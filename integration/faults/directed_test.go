package faults

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// What faults drawn at random seldom meet is led up to here.

// linked is a cluster of five masters, with links to them.
type linked struct {
	masters []*rig.Master
	links   []*rig.Link
	cfg     rig.Config
}

func newLinked(t *testing.T) *linked {
	c := &linked{masters: rig.StartMasters(t, 5)}
	c.cfg = rig.Over(c.masters)
	c.cfg.Timeout, c.cfg.RetryBudget, c.cfg.MaxTTL = timeout, retryBudget, 4*time.Second
	c.cfg.Masters = nil
	for _, m := range c.masters {
		l := rig.NewLink(t, m.Addr)
		c.links = append(c.links, l)
		c.cfg.Masters = append(c.cfg.Masters, l.Addr)
	}
	return c
}

// holding counts the masters that have the key with the token.
func (c *linked) holding(key, token string) int {
	n := 0
	for _, m := range c.masters {
		if got, err := m.Client.Get(context.Background(), key).Result(); err == nil && rig.Token(got) == token {
			n++
		}
	}
	return n
}

// newBeside is a redlockd behind links, and one beside it that reaches the
// masters directly.
func newBeside(t *testing.T) (c *linked, r, other *rig.Redlockd) {
	c = newLinked(t)
	r = rig.StartRedlockd(t, c.cfg, c.masters)
	direct := rig.Over(c.masters)
	direct.Timeout, direct.MaxTTL = c.cfg.Timeout, c.cfg.MaxTTL
	other = rig.JoinRedlockd(t, direct)
	other.WaitVoting(c.masters...)
	return c, r, other
}

// TestRollbackSparesEqualToken is V6: a redlockd that could not tell undoes
// its attempt everywhere, also where another redlockd has a lock by the same
// token.
func TestRollbackSparesEqualToken(t *testing.T) {
	t.Parallel()
	c, r, other := newBeside(t)
	ctx, client, holder := context.Background(), r.Client(), other.Client()
	for n := range 3 {
		key := fmt.Sprintf("equal:%d", n)
		for _, l := range c.links[:3] {
			l.Stall()
		}
		// The attempt is on its way when the other redlockd takes the lock.
		lost := make(chan error, 1)
		go func() { lost <- client.SetNX(ctx, key, equalToken, 3*time.Second).Err() }()
		rig.Eventually(t, "the attempt is on two masters", func() (bool, string) {
			return c.holding(key, equalToken) == 2, fmt.Sprint(c.holding(key, equalToken))
		})
		err := <-lost
		if err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM ") {
			t.Fatalf("an attempt of which three masters heard nothing: %v", err)
		}
		sent := time.Now()
		if ok, err := holder.SetNX(ctx, key, equalToken, 3*time.Second).Result(); !ok {
			t.Fatalf("taking %s at a redlockd that reaches all masters: %v", key, err)
		}
		for _, l := range c.links[:3] {
			l.Slow(0)
		}
		r.WaitVoting(c.masters...) // what was held back has been carried out
		if ok, err := holder.SetNX(ctx, key, "another", time.Second).Result(); ok && time.Since(sent) < 3*time.Second {
			t.Fatalf("round %d: the lock was given twice, %v", n, err)
		}
		if on := c.holding(key, equalToken); on < 3 && time.Since(sent) < 3*time.Second {
			t.Errorf("round %d: the lock is on %d masters", n, on)
		}
	}
}

// TestLateOKIsNotTold is V2: a lock that was won waits for its OK behind a
// slower answer of the same client, redlockd stands still, and by then the
// lock may be another's.
func TestLateOKIsNotTold(t *testing.T) {
	t.Parallel()
	masters := rig.StartMasters(t, 5)
	cfg := rig.Over(masters)
	cfg.Timeout, cfg.RetryBudget, cfg.MaxTTL = timeout, 2*time.Second, time.Second
	frozen := rig.StartRedlockd(t, cfg, masters)
	other := rig.JoinRedlockd(t, cfg)
	other.WaitVoting(masters...)
	ctx, second := context.Background(), other.Client()
	// Tokens of three clients, none of them on a majority, keep an acquire
	// trying for all of its budget.
	for i, m := range masters {
		if err := m.Client.Set(ctx, "stuck", fmt.Sprint(i/2), 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		key := fmt.Sprintf("late:%d", n)
		conn, err := net.Dial("tcp", frozen.Addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(rig.Patience))
		fmt.Fprintf(conn, "SET stuck t NX PX 500\r\nSET %s first NX PX 500\r\n", key)
		if without := rig.WaitHeld(masters, key, "first", rig.Patience); len(without) > 0 {
			t.Fatalf("%s is not on %v", key, without)
		}
		frozen.Freeze()
		rig.Eventually(t, "the lock is another's", func() (bool, string) {
			ok, err := second.SetNX(ctx, key, "second", time.Second).Result()
			return ok, fmt.Sprint(err)
		})
		taken := time.Now()
		frozen.Thaw()
		replies := bufio.NewReader(conn)
		for i := range 2 {
			text, err := readReply(replies)
			if err == nil {
				t.Errorf("round %d: answer %d is %q, %v after the lock was given to another", n, i, text, time.Since(taken))
			}
		}
		if token, err := second.Get(ctx, key).Result(); token != "second" && time.Since(taken) < 900*time.Millisecond {
			t.Errorf("round %d: the second holder's lock after the thaw: %q, %v", n, token, err)
		}
		conn.Close()
		frozen.WaitVoting(masters...)
	}
}

// TestOldConnectionIsFenced is M3: a release is held back on its way to three
// masters, and redlockd reaches them another way. What is on the old way
// arrives when the lock has been taken again with the same token; it must not
// free it.
func TestOldConnectionIsFenced(t *testing.T) {
	t.Parallel()
	c := newLinked(t)
	var old []*rig.Link
	for i, l := range c.links[:3] {
		old = append(old, rig.NewLink(t, c.masters[i].Addr))
		l.Reroute(old[i].Addr)
	}
	r := rig.StartRedlockd(t, c.cfg, c.masters)
	ctx, client := context.Background(), r.Client()
	const key = "fenced"
	if ok, err := client.SetNX(ctx, key, equalToken, 500*time.Millisecond).Result(); !ok {
		t.Fatal(err)
	}
	for _, l := range old {
		l.Stall()
	}
	err := client.Eval(ctx, rig.ReleaseScript, []string{key}, equalToken).Err()
	if err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM ") {
		t.Fatalf("a release that three masters have not heard: %v", err)
	}
	for i, l := range c.links[:3] {
		l.Reroute(c.masters[i].Addr)
	}
	r.WaitVoting(c.masters...)
	rig.Eventually(t, "the lock is taken again, everywhere", func() (bool, string) {
		ok, err := client.SetNX(ctx, key, equalToken, 4*time.Second).Result()
		return ok && len(rig.WaitHeld(c.masters, key, equalToken, time.Second)) == 0, fmt.Sprint(err)
	})
	sent := time.Now()
	for _, l := range old {
		l.Slow(0)
	}
	for time.Since(sent) < time.Second {
		if on := c.holding(key, equalToken); on < 5 && time.Since(sent) < 3*time.Second {
			t.Fatalf("the lock is on %d masters %v after it was taken for 4s", on, time.Since(sent))
		}
		time.Sleep(10 * time.Millisecond) // the pace of the looks
	}
	if ok, err := client.SetNX(ctx, key, "another", time.Second).Result(); ok && time.Since(sent) < 3*time.Second {
		t.Fatalf("the lock was given twice, %v", err)
	}
}

// TestRollbackSparesProlonged is V6: an acquire-or-extend has prolonged a lock
// and its votes come too late. The lock is what it was before at least.
func TestRollbackSparesProlonged(t *testing.T) {
	t.Parallel()
	c, r, other := newBeside(t)
	ctx, client, holder := context.Background(), r.Client(), other.Client()
	prolonged := 0
	for n := 0; n < 10 && prolonged < 3; n++ {
		key, sent := fmt.Sprintf("prolonged:%d", n), time.Now()
		if ok, err := holder.SetNX(ctx, key, "me", 2*time.Second).Result(); !ok {
			t.Fatalf("taking %s: %v", key, err)
		}
		before := c.masters[4].Client.PTTL(ctx, key).Val()
		for _, l := range c.links {
			l.Slow(timeout * 2 / 3) // it arrives in time, and its answer does not
		}
		err := client.Eval(ctx, renewScript, []string{key}, "me", 4000).Err()
		if err == nil || !strings.HasPrefix(err.Error(), "NOQUORUM ") {
			t.Fatalf("an acquire-or-extend that is answered too late: %v", err)
		}
		if c.masters[4].Client.PTTL(ctx, key).Val() > before {
			prolonged++
		}
		for _, l := range c.links {
			l.Slow(0)
		}
		time.Sleep(100 * time.Millisecond) // what undoes it, if anything does
		if on := c.holding(key, "me"); on < 3 && time.Since(sent) < 2*time.Second {
			t.Errorf("round %d: the lock is on %d masters %v after it was taken for 2s", n, on, time.Since(sent))
		}
		if ok, err := holder.SetNX(ctx, key, "another", time.Second).Result(); ok && time.Since(sent) < 2*time.Second {
			t.Fatalf("round %d: the lock was given twice, %v", n, err)
		}
		r.WaitVoting(c.masters...)
	}
	if prolonged == 0 {
		t.Error("in no round was a lock prolonged too late")
	}
}

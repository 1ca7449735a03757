package faults

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redlockd/redlockd/integration/rig"
)

// between is two redlockd over three masters, with links of their own.
type between struct {
	masters []*rig.Master
	r       [2]*rig.Redlockd
	links   [2][]*rig.Link
}

// newBetween starts them. front is the address by which both know the first
// master, or empty for a link as to the others.
func newBetween(t *testing.T, front string, each func(n int, cfg *rig.Config)) *between {
	b := &between{masters: rig.StartMasters(t, 3)}
	for n := range b.r {
		cfg := rig.Config{Timeout: timeout / 2, RetryBudget: retryBudget, MaxTTL: 1100 * time.Millisecond, Handover: handover}
		for _, m := range b.masters {
			l := rig.NewLink(t, m.Addr)
			b.links[n] = append(b.links[n], l)
			cfg.Masters = append(cfg.Masters, l.Addr)
		}
		if front != "" {
			cfg.Masters[0] = front
		}
		each(n, &cfg)
		if n == 0 {
			rig.Bootstrap(t, cfg)
		}
		b.r[n] = rig.JoinRedlockd(t, cfg)
	}
	b.waitVoting(t)
	return b
}

func (b *between) waitVoting(t *testing.T) {
	t.Helper()
	for n, r := range b.r {
		rig.Eventually(t, "all masters vote", func() (bool, string) {
			got := r.Info("masters_voting")
			return got == "3", fmt.Sprintf("%s for redlockd %d", got, n)
		})
	}
}

// take is an acquire by one of the redlockd.
func (b *between) take(n int, key, token string, ttl time.Duration) (bool, error) {
	return b.r[n].Client().SetNX(context.Background(), key, token, ttl).Result()
}

// TestMovedMaster is M3: the first master moves to another, empty server, which
// only one of two redlockd has heard of. The two servers must not both vote
// under its name, nor may that end the service when both have heard.
func TestMovedMaster(t *testing.T) {
	t.Parallel()
	t.Run("one redlockd is reloaded", func(t *testing.T) {
		t.Parallel()
		next := rig.StartMaster(t)
		b := newBetween(t, "", func(int, *rig.Config) {})
		reload := func(n int) {
			cfg := b.r[n].Config
			cfg.Masters = slices.Clone(cfg.Masters)
			cfg.Masters[0] = next.Addr
			b.r[n].Reload(cfg)
		}
		one := func() {
			reload(1)
			// It may go on with the old server until both have heard.
			for end := time.Now().Add(3 * time.Second); b.r[1].Info("masters_voting") == "3" && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
		}
		b.wantOneServer(t, one, func() { reload(0) })
	})
	t.Run("an address moves, and one redlockd keeps its connection", func(t *testing.T) {
		t.Parallel()
		old, next := rig.StartMaster(t), rig.StartMaster(t)
		front := rig.NewMover(t, old.Addr)
		b := newBetween(t, front.Addr, func(int, *rig.Config) {})
		b.masters[0] = old
		again := func() { b.r[1].Restart() }
		b.wantOneServer(t, func() { front.Move(next.Addr); again() }, func() {})
	})
}

// wantOneServer lets the second redlockd move, waits until the new server may
// vote, and looks whether the first takes locks with the old one that the second
// takes with the new one. Then the rest moves.
func (b *between) wantOneServer(t *testing.T, one, rest func()) {
	one()
	waitAllVote(b.r[1], 3, time.Now().Add(8*time.Second))
	b.links[0][2].Cut() // the first reaches a and b, the second a and c
	b.links[1][1].Cut()
	const ttl = time.Second
	both := 0
	for n := range 5 {
		key, sent := fmt.Sprint("moved:", n), time.Now()
		first, err1 := b.take(0, key, "A", ttl)
		second, err2 := b.take(1, key, "B", ttl)
		if first && second && time.Since(sent) < ttl {
			both++
		}
		t.Logf("round %d: by the old server %v, %v; by the new one %v, %v", n, first, err1, second, err2)
	}
	if both > 0 {
		t.Errorf("TWO HOLDERS, %d times: two servers vote under one name", both)
	}
	b.links[0][2].Mend()
	b.links[1][1].Mend()
	rest()
	b.masters[0].Kill()
	b.waitVoting(t)
}

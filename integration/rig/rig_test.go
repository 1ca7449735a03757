package rig

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRig shows that the faults of these tests are real: what they show of
// redlockd is worth as much.
func TestRig(t *testing.T) {
	ctx := context.Background()
	t.Run("a frozen master answers after its thaw only", func(t *testing.T) {
		m := StartMaster(t)
		m.Freeze()
		answered := make(chan error, 1)
		go func() { answered <- m.Client.Set(ctx, "k", "v", 0).Err() }()
		select {
		case err := <-answered:
			t.Errorf("a frozen master answers %v", err)
		case <-time.After(100 * time.Millisecond):
		}
		m.Thaw()
		if err := <-answered; err != nil {
			t.Errorf("after the thaw: %v", err)
		}
	})
	t.Run("a master restarted empty has the address and nothing else", func(t *testing.T) {
		m := StartMaster(t)
		m.Client.Set(ctx, "k", "v", 0)
		before := m.Client.Info(ctx, "server").Val()
		m.RestartEmpty()
		if m.Holds("k", "") {
			t.Error("the key is still there")
		}
		if m.Client.Info(ctx, "server").Val() == before {
			t.Error("it is the same process")
		}
	})
	t.Run("a master restarted with its disk has what was there", func(t *testing.T) {
		m := StartMaster(t, "--appendonly", "yes", "--appendfsync", "always")
		m.Client.Set(ctx, "k", "v", 0)
		m.Restart()
		if !m.Holds("k", "v") {
			t.Error("the key is gone")
		}
		m.RestartEmpty()
		if m.Holds("k", "") {
			t.Error("the key outlived a restart without the disk")
		}
	})
	t.Run("a full disk ends a master that keeps all, and stops one that keeps most", func(t *testing.T) {
		always := StartMaster(t, "--appendonly", "yes", "--appendfsync", "always")
		most := StartMaster(t, "--appendonly", "yes", "--appendfsync", "everysec")
		for _, m := range []*Master{always, most} {
			m.Client.Set(ctx, "k", "v", 0)
			if err := m.FullDisk(0); errors.Is(err, errors.ErrUnsupported) {
				t.Skip("this system does not limit other processes")
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if err := always.Client.Set(ctx, "k", "w", 0).Err(); err == nil {
			t.Error("a write that cannot be kept is answered")
		}
		Eventually(t, "it has ended", func() (bool, string) { return !always.Running(), "" })
		always.Restart()
		if !always.Holds("k", "v") {
			t.Error("what was kept before is gone")
		}
		Eventually(t, "writes are refused", func() (bool, string) {
			err := most.Client.Set(ctx, "k", "w", 0).Err()
			return err != nil && strings.HasPrefix(err.Error(), "MISCONF"), fmt.Sprint(err)
		})
		if err := most.FullDisk(-1); err != nil {
			t.Fatal(err)
		}
		Eventually(t, "writes are taken again", func() (bool, string) {
			err := most.Client.Set(ctx, "k", "w", 0).Err()
			return err == nil, fmt.Sprint(err)
		})
	})
	t.Run("a promoted replica has the run_id and no keys", func(t *testing.T) {
		m := StartMaster(t)
		m.Client.Set(ctx, "k", "v", 0)
		runID := func() string {
			_, after, _ := strings.Cut(m.Client.Info(ctx, "server").Val(), "run_id:")
			id, _, _ := strings.Cut(after, "\r")
			return id
		}
		before := runID()
		m.FailOver(StartMaster(t))
		if m.Holds("k", "") || runID() != before {
			t.Errorf("key there: %v, run_id %s, before %s", m.Holds("k", ""), runID(), before)
		}
		if err := m.Client.Set(ctx, "k", "v", 0).Err(); err != nil {
			t.Errorf("it takes no writes: %v", err)
		}
	})
	t.Run("a link slows, stalls, cuts and mends", func(t *testing.T) {
		m := StartMaster(t)
		l := NewLink(t, m.Addr)
		c := Direct(l.Addr, "")
		defer c.Close()
		if err := c.Ping(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		l.Slow(50 * time.Millisecond)
		start := time.Now()
		if err := c.Ping(ctx).Err(); err != nil || time.Since(start) < 100*time.Millisecond {
			t.Errorf("PING over 50 ms each way: %v after %v", err, time.Since(start))
		}
		answered := make(chan error, 1)
		l.Slow(0)
		l.SlowFrom(forever)
		go func() { answered <- c.Set(ctx, "one way", "v", 0).Err() }()
		Eventually(t, "what goes to the master arrives", func() (bool, string) { return m.Holds("one way", "v"), "" })
		select {
		case err := <-answered:
			t.Errorf("a link stalled one way answers %v", err)
		default:
		}
		l.SlowFrom(0)
		if err := <-answered; err != nil {
			t.Errorf("what was stalled one way: %v", err)
		}
		l.Stall()
		go func() { answered <- c.Set(ctx, "k", "v", 0).Err() }()
		select {
		case err := <-answered:
			t.Errorf("a stalled link answers %v", err)
		case <-time.After(200 * time.Millisecond):
		}
		if m.Holds("k", "") {
			t.Error("a stalled link lets through")
		}
		l.Slow(0)
		if err := <-answered; err != nil || !m.Holds("k", "v") {
			t.Errorf("what was stalled: %v", err)
		}
		l.Cut()
		if err := c.Ping(ctx).Err(); err == nil {
			t.Error("PING over a cut link succeeds")
		}
		l.Mend()
		Eventually(t, "PING over a mended link", func() (bool, string) {
			err := c.Ping(ctx).Err()
			return err == nil, ""
		})
	})
	t.Run("an address that moves keeps its connections", func(t *testing.T) {
		old, next := StartMaster(t), StartMaster(t)
		m := NewMover(t, old.Addr)
		before := Direct(m.Addr, "")
		defer before.Close()
		if err := before.Ping(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		m.Move(next.Addr)
		after := Direct(m.Addr, "")
		defer after.Close()
		if err := errors.Join(before.Set(ctx, "k", "before", 0).Err(), after.Set(ctx, "k", "after", 0).Err()); err != nil {
			t.Fatal(err)
		}
		if !old.Holds("k", "before") || !next.Holds("k", "after") {
			t.Error("the two connections do not go to two servers")
		}
	})
}

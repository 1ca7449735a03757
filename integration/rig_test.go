package integration

import (
	"context"
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
		w := DialWire(t, m.Addr)
		m.Freeze()
		answered := make(chan string, 1)
		go func() { answered <- w.Ask("SET", "k", "v") }()
		select {
		case got := <-answered:
			t.Errorf("a frozen master answers %q", got)
		case <-time.After(100 * time.Millisecond):
		}
		m.Thaw()
		if got := <-answered; got != "+OK\r\n" {
			t.Errorf("after the thaw: %q", got)
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
	t.Run("a promoted replica has the run_id and no keys", func(t *testing.T) {
		m := StartMaster(t)
		m.Client.Set(ctx, "k", "v", 0)
		runID := func() string {
			_, after, _ := strings.Cut(m.Client.Info(ctx, "server").Val(), "run_id:")
			id, _, _ := strings.Cut(after, "\r")
			return id
		}
		before := runID()
		replaceByReplica(t, m)
		if m.Holds("k", "") || runID() != before {
			t.Errorf("key there: %v, run_id %s, before %s", m.Holds("k", ""), runID(), before)
		}
		if err := m.Client.Set(ctx, "k", "v", 0).Err(); err != nil {
			t.Errorf("it takes no writes: %v", err)
		}
	})
	t.Run("a link slows, cuts and mends", func(t *testing.T) {
		m := StartMaster(t)
		l := NewLink(t, m.Addr)
		c := direct(l.Addr, "")
		defer c.Close()
		if err := c.Ping(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		l.Slow(50 * time.Millisecond)
		start := time.Now()
		if err := c.Ping(ctx).Err(); err != nil || time.Since(start) < 100*time.Millisecond {
			t.Errorf("PING over 50 ms each way: %v after %v", err, time.Since(start))
		}
		l.Slow(0)
		l.Cut()
		if err := c.Ping(ctx).Err(); err == nil {
			t.Error("PING over a cut link succeeds")
		}
		l.Mend()
		eventually(t, "PING over a mended link", func() (bool, string) {
			err := c.Ping(ctx).Err()
			return err == nil, ""
		})
	})
}
